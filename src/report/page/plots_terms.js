// Where the time goes: the terms of both models beside the measured split, and the micro-benchmarks.
const plotsOfTerms = (() => {
    const { element, svg } = text;
    const { m, p, time_s, refined_s, measured_s, split } = study.configurations;

    /** The stacks of a configuration: [{name, parts, labels}], left to right. */
    function stacks(k) {
        const found = [{ name: "equation 11", parts: study.equation11(k), labels: study.TERMS }];
        if (refined_s) {
            found.push({ name: "refined model", parts: study.refined(k), labels: study.TERMS });
        }
        const measured = study.splitOf(k);
        if (measured) found.push({ name: "measured", parts: measured, labels: study.PARTS });
        return found;
    }

    /** The parts from the bottom up: what is the same time has the same place in every stack. */
    const ORDER = [
        ["hpu_s", "host_s", "host_queueing_s", "context_switch_s", "collective_s"],
        ["gap_s", "start_s"],
        ["apu_s", "apu_shared_s", "memory_contention_s", "work_growth_s"],
        ["apu_serial_s"],
        ["offload_s", "uneven_division_s", "exposed_transfer_s", "wait_s"],
        ["idle_s"],
    ].flat();
    const fromBelow = (parts) =>
        Object.entries(parts).sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b));

    const total = (parts) => Object.values(parts).reduce((sum, part) => sum + part, 0);

    /** What the colours of some stacks mean, parts that never show left out. */
    function entries() {
        const found = new Map();
        const add = ([name, , part]) => {
            if (!found.has(part)) found.set(part, []);
            if (!found.get(part).includes(name)) found.get(part).push(name);
        };
        for (const [key, label] of Object.entries(study.TERMS)) {
            const isOfRefined = study.indices.length && !(key in study.equation11(0));
            if (!isOfRefined || refined_s) add(label);
        }
        if (split)
            Object.values(study.PARTS).forEach((label) =>
                add([`measured: ${label[0]}`, "", label[2]]),
            );
        return [...found].map(([part, names]) => ({
            name: names.join("; "),
            series: `part ${part}`,
            isArea: true,
        }));
    }

    /** Bars of as many configurations as fit, in the order of the ranking, in pages. */
    function stacked(parent) {
        let first = 0;
        let shown = 1;
        const where = element("span", { class: "where", "aria-live": "polite" });
        const back = element("button", { type: "button" }, "\u2190 faster");
        const on = element("button", { type: "button" }, "slower \u2192");
        const sides = ["equation 11", refined_s && "refined model", split && "measured"].filter(
            Boolean,
        );
        const chart = charts.create(parent, {
            title: "Where the time goes",
            isWide: true,
            description:
                "The terms of each model beside the parts of the measured run, for each configuration; the panel of the selected configuration has them as numbers.",
            controls: [back, where, on],
            legend: entries(),
            caption: `Configurations (m, p) in the order of their ${study.hasRuns ? "ranks" : "predicted times"}; bars from left to right: ${sides.join(", ")}.`,
            onPick: study.select,
            draw(canvas) {
                const height = 340;
                const area = { top: 8, bottom: height - 42, right: canvas.width - 6 };
                shown = Math.min(Math.max(Math.floor((canvas.width - 60) / 40), 1), study.size);
                first = Math.max(Math.min(first, study.size - shown), 0);
                const of = study.indices.slice(first, first + shown);
                where.textContent = `ranks ${text.count(first + 1)} to ${text.count(first + shown)} of ${text.count(study.size)}`;
                back.disabled = first === 0;
                on.disabled = first + shown >= study.size;
                const tall = of.flatMap((k) => stacks(k).map(({ parts }) => total(parts)));
                const unit = text.commonUnit(tall);
                const most = axes.roomy([0, Math.max(...tall)], "linear", 0.03)[1];
                const y = axes.scale("linear", [0, most || 1], [area.bottom, area.top]);
                area.left = axes.leftMargin(y, { factor: unit.factor });
                const x = axes.scale("linear", [-0.5, shown - 0.5], [area.left, area.right]);
                const ticks = of.map((k, i) => ({ at: x.at(i), label: `${m[k]}, ${p[k]}` }));
                axes.draw(canvas.layer, {
                    x: { scale: x, label: "(m, p)", ticks: sparse(ticks) },
                    y: { scale: y, label: `time [${unit.name}]`, factor: unit.factor },
                    area,
                });
                const hits = of.flatMap((k, i) => group(canvas.layer, { k, x, y, i }));
                return { height, hits };
            },
        });
        back.addEventListener("click", () => ((first -= shown), chart.redraw()));
        on.addEventListener("click", () => ((first += shown), chart.redraw()));
    }

    /** Every other label, or fewer, where they would touch. */
    function sparse(ticks) {
        if (ticks.length < 2) return ticks;
        const widest = axes.wide(Math.max(...ticks.map(({ label }) => label.length))) + 5;
        const every = Math.ceil(widest / (ticks[1].at - ticks[0].at));
        return ticks.filter((_, i) => i % every === 0);
    }

    /** The bars of one configuration, each of which answers. */
    function group(layer, { k, x, y, i }) {
        const bars = stacks(k);
        const room = (x.at(1) - x.at(0)) * 0.8;
        const wide = Math.min(room / bars.length, 26);
        const start = x.at(i) - (wide * bars.length) / 2;
        return bars.map(({ name, parts, labels }, place) => {
            const left = start + place * wide;
            let sum = 0;
            for (const [part, time] of fromBelow(parts)) {
                const [top, bottom] = [y.at(sum + time), y.at(sum)];
                sum += time;
                if (bottom - top < 0.05) continue;
                layer.append(
                    svg("rect", {
                        class: `part ${labels[part][2]}`,
                        x: left.toFixed(1),
                        y: top.toFixed(2),
                        width: Math.max(wide - 1, 1).toFixed(1),
                        height: (bottom - top).toFixed(2),
                    }),
                );
            }
            const top = y.at(sum);
            const box = { x: left, y: top, width: wide - 1, height: y.at(0) - top };
            return {
                x: left + wide / 2,
                y: top,
                box,
                index: k,
                tip: () => spell(k, name, parts, labels),
            };
        });
    }

    /** A stack in words. */
    function spell(k, name, parts, labels) {
        const sum = total(parts);
        const rows = Object.entries(parts)
            .filter(([, time]) => time > 0)
            .map(
                ([part, time]) =>
                    `${labels[part][0]}: ${text.seconds(time)} (${text.percent(time / sum)})`,
            );
        return [`${text.pair(m[k], p[k])}, ${name}: ${text.seconds(sum)}`, ...rows];
    }

    /** A micro-benchmark: its points, and what was fitted to them. */
    function benchmark(
        parent,
        { title, x_label, y_label, x_scale, y_scale, points, fit, fit_label },
    ) {
        const places = [...points, ...fit];
        if (places.length === 0) return;
        const isWhole = x_scale === "linear" && places.every(([x]) => Number.isInteger(x));
        const isInterval = fit.some(([, , low, high]) => low !== null && high !== null);
        charts.create(parent, {
            title,
            description: `${y_label} against ${x_label}: measured points and ${fit_label}.`,
            legend: [
                { name: "measured", series: "measured", mark: "circle" },
                { name: element("bdi", {}, fit_label), series: "equation-11", isLine: true },
                ...(isInterval ? [{ name: "95 % interval", series: "band", isArea: true }] : []),
            ],
            draw(canvas) {
                const height = 270;
                const area = { top: 8, bottom: height - 42, right: canvas.width - 10 };
                const values = [...points.map(([, y]) => y), ...fit.flatMap(([, ...all]) => all)];
                const xDomain = domainOf(
                    places.map(([x]) => x),
                    x_scale,
                );
                const seconds = unitOf(y_label, values);
                const y = axes.scale(y_scale, domainOf(values, y_scale), [area.bottom, area.top]);
                area.left = axes.leftMargin(y, { factor: seconds.factor });
                const x = axes.scale(x_scale, xDomain, [area.left, area.right]);
                axes.draw(canvas.layer, {
                    x: { scale: x, label: x_label, isWhole },
                    y: { scale: y, label: seconds.label, factor: seconds.factor },
                    area,
                });
                return { height, hits: curve(canvas, { x, y, points, fit, y_label, fit_label }) };
            },
        });
    }

    const domainOf = (values, kind) =>
        axes.roomy(
            axes.extent(kind === "log" ? values.filter((value) => value > 0) : values),
            kind,
        );

    /** A label in [s] gets the prefix that suits the values. */
    function unitOf(label, values) {
        if (!label.endsWith("[s]")) return { label, factor: 1 };
        const unit = text.commonUnit(values);
        return { label: `${label.slice(0, -3)}[${unit.name}]`, factor: unit.factor };
    }

    function curve(canvas, { x, y, points, fit, y_label, fit_label }) {
        const isShown = (value) => value !== null && (y.kind !== "log" || value > 0);
        const place = ([at, value]) => `${x.at(at).toFixed(1)},${y.at(value).toFixed(1)}`;
        const ends = fit.filter(([, , low, high]) => isShown(low) && isShown(high));
        if (ends.length > 1) {
            const there = ends.map(([at, , , high]) => place([at, high]));
            const back = ends
                .slice()
                .reverse()
                .map(([at, , low]) => place([at, low]));
            canvas.layer.append(
                svg("path", { class: "band", d: `M${[...there, ...back].join("L")}z` }),
            );
        }
        const fitted = fit.filter(([, value]) => isShown(value));
        const at = ([first, value]) => [x.at(first), y.at(value)];
        canvas.layer.append(charts.line("equation-11", fitted.map(at)));
        const known = points.filter(([, value]) => isShown(value));
        canvas.layer.append(
            charts.points("measured", "circle", known.map(at), known.length > 200 ? 2 : 3),
        );
        const unit = y_label.match(/\[([^\]]+)\]$/)?.[1] ?? "";
        const written = (value) =>
            unit === "s" ? text.seconds(value) : `${text.digits(value)}${unit && `\u00a0${unit}`}`;
        const hit = (name) => (each) => ({
            x: at(each)[0],
            y: at(each)[1],
            index: null,
            tip: () => [`${name} at ${text.count(each[0])}`, written(each[1])],
        });
        return [...known.map(hit("measured")), ...fitted.map(hit(fit_label))];
    }

    return { stacked, benchmark, stacks, fromBelow, total };
})();
