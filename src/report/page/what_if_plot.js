// The small plot of the what-if panel: the best for each m, as given and with changed terms. It is the one
// picture that the page draws itself.
const whatIfPlot = (() => {
    const { element, svg } = text;
    const { base } = whatIf;
    const [WIDTH, HEIGHT] = [680, 280];
    const AREA = { left: 64, right: WIDTH - 12, top: 8, bottom: HEIGHT - 42 };

    /** The least product over p for each m, as [{m, p, product}]. */
    function leastByM({ m, p, ...columns }, key) {
        const best = new Map();
        m.forEach((each, k) => {
            const product = columns[key][k];
            if (!best.has(each) || product < best.get(each).product)
                best.set(each, { m: each, p: p[k], product });
        });
        return [...best.values()].sort((a, b) => a.m - b.m);
    }

    /** The curves: as given and now, for each model. */
    function curves() {
        const { ranking: now } = whatIf.result();
        const found = [
            { name: `as given, ${whatIf.RANKED}`, series: "given", of: leastByM(base, "product") },
            { name: `what if, ${whatIf.RANKED}`, series: "equation-11", of: leastByM(now, "product") },
        ];
        if (now.refined_s) {
            const of = leastByM(now, "refined_product");
            found.push({ name: "what if, refined model", series: "refined", of });
        }
        return found;
    }

    /** From the least and the largest of some numbers above 0 onto pixels, by their logarithms. */
    function scale(values, room, from, to) {
        const [low, high] = [Math.min(...values) / room, Math.max(...values) * room];
        const at = (value) =>
            from + (Math.log(Math.max(value, low) / low) / Math.log(high / low)) * (to - from);
        return { low, high, at };
    }

    /** The numbers of some steps in each power of a base that lie on a scale. */
    function ticks({ low, high }, base, steps) {
        const found = [];
        const power = Math.floor(Math.log(low) / Math.log(base));
        for (let first = base ** power; first <= high; first *= base)
            for (const step of steps) {
                const value = Number((first * step).toPrecision(6));
                if (value >= low && value <= high) found.push(value);
            }
        return found;
    }

    /** As many of the ticks of a scale as have room. */
    function roundTicks(along) {
        const isFine = along.high / along.low < 30;
        return ticks(along, 10, isFine ? [1, 1.5, 2, 3, 5, 7] : [1]);
    }

    /** The figure; `draw` fills it with the result at hand. */
    function create(parent) {
        const best = `${objective.isMost ? "Largest" : "Least"} ${objective.name}`;
        const title = `${best} for each m, over its p`;
        const description = `${best} over p for each number of host threads, as given and with the changed terms.`;
        const head = svg("title", {}, `${title}. ${description}`);
        const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" }, head);
        const label = `${title}. Arrow keys step through its points, Enter selects.`;
        const stage = element(
            "div",
            { class: "stage scroller", tabindex: 0, role: "group", "aria-label": label },
            picture,
        );
        const figure = element(
            "figure",
            { class: "chart" },
            element("h3", { dir: "auto" }, title),
            legend(curves()),
            stage,
        );
        parent.append(figure);
        const chart = charts.attach(figure);
        return { redraw: () => draw(chart, head) };
    }

    function legend(entries) {
        const swatch = ({ series }) =>
            svg(
                "svg",
                { width: 24, height: 14, "aria-hidden": "true" },
                svg("path", { class: `line ${series}`, d: "M1,7H23" }),
                svg("circle", { class: `mark ${series}`, cx: 12, cy: 7, r: 3.5 }),
            );
        const item = (entry) => element("li", {}, swatch(entry), entry.name);
        return element("ul", { class: "legend" }, entries.map(item));
    }

    function draw(chart, head) {
        const shown = curves();
        const all = shown.flatMap(({ of }) => of);
        const products = all.map(({ product }) => product).filter((it) => it > 0);
        const unit = objective.unitOf(products);
        const { left, right, top, bottom } = AREA;
        const y = scale(products.map(objective.amount), 1.1, bottom, top);
        const x = scale([1, 2, ...all.map(({ m }) => m)], 1.04, left, right);
        const at = ({ m, product }) => [x.at(m), y.at(objective.amount(product))];
        const word = (x, y, anchor, words) =>
            svg("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor }, words);
        const labels = svg("g", { class: "ticks" });
        let grid = "";
        for (const tick of ticks(x, 2, [1])) {
            grid += `M${x.at(tick).toFixed(1)},${top}V${bottom}`;
            labels.append(word(x.at(tick), bottom + 15, "middle", String(tick)));
        }
        for (const tick of roundTicks({ low: y.low / unit.factor, high: y.high / unit.factor })) {
            const height = y.at(tick * unit.factor);
            grid += `M${left},${height.toFixed(1)}H${right}`;
            labels.append(word(left - 7, height + 4, "end", text.minus(String(tick))));
        }
        const titles = svg(
            "g",
            { class: "axis-titles" },
            word((left + right) / 2, bottom + 33, "middle", "host threads m"),
            svg(
                "text",
                { "text-anchor": "middle", transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)` },
                objective.titled(objective.name, unit),
            ),
        );
        chart.picture.replaceChildren(
            head,
            svg("path", { class: "grid", d: grid }),
            svg("path", { class: "axes", d: `M${left},${top}V${bottom}H${right}` }),
            labels,
            titles,
            ...shown.flatMap(({ series, of }) => {
                const places = of.map(at);
                const d = places.map((place) => place.map((it) => it.toFixed(1)).join(",")).join("L");
                const dot = ([cx, cy]) => svg("circle", { class: `mark ${series}`, cx, cy, r: 3 });
                return [svg("path", { class: `line ${series}`, d: `M${d}` }), ...places.map(dot)];
            }),
        );
        const hit = ({ name }) => (each) => ({
            x: at(each)[0],
            y: at(each)[1],
            index: study.places.get(`${each.m},${each.p}`) ?? null,
            tip: () => [`${name}: ${text.pair(each.m, each.p)}`, objective.shown(each.product)],
        });
        charts.update(chart, shown.flatMap((curve) => curve.of.map(hit(curve))));
    }

    return { create };
})();
