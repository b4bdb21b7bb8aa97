// The small plot of the what-if panel: the best for each m, as given and with changed terms.
const whatIfPlot = (() => {
    const { base } = whatIf;

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

    /** The curves of the small plot: as given and now, for each model. */
    function curves() {
        const { ranking: now } = whatIf.result();
        const found = [
            {
                name: `as given, ${whatIf.RANKED}`,
                series: "given",
                mark: "square",
                of: leastByM(base, "product"),
            },
            {
                name: `what if, ${whatIf.RANKED}`,
                series: "equation-11",
                mark: "diamond",
                of: leastByM(now, "product"),
            },
        ];
        if (now.refined_s) {
            found.push({
                name: "what if, refined model",
                series: "refined",
                mark: "triangle",
                of: leastByM(now, "refined_product"),
            });
        }
        return found;
    }

    /** A chart that draws the result at hand. */
    function create(parent) {
        const best = `${objective.isMost ? "Largest" : "Least"} ${objective.name}`;
        return charts.create(parent, {
            title: `${best} for each m, over its p`,
            isWide: true,
            description: `${best} over p for each number of host threads, as given and with the changed terms.`,
            legend: curves().map((curve) => ({ ...curve, isLine: true })),
            onPick: study.select,
            draw(canvas) {
                const height = 270;
                const shown = curves();
                const all = shown.flatMap(({ of }) => of);
                const products = all.map(({ product }) => product).filter((it) => it > 0);
                const amounts = products.map(objective.amount);
                const unit = objective.unitOf(products);
                const area = { top: 8, bottom: height - 42, right: canvas.width - 10 };
                const y = axes.scale("log", axes.roomy(axes.extent(amounts), "log"), [
                    area.bottom,
                    area.top,
                ]);
                area.left = axes.leftMargin(y, { factor: unit.factor });
                const last = axes.extent(all.map(({ m }) => m))[1];
                const kind = last > 64 ? "log" : "linear";
                const x = axes.scale(kind, axes.roomy([1, Math.max(last, 2)], kind, 0.03), [
                    area.left,
                    area.right,
                ]);
                axes.draw(canvas.layer, {
                    x: { scale: x, label: "host threads m", isWhole: true },
                    y: { scale: y, label: objective.titled(objective.name, unit), factor: unit.factor },
                    area,
                });
                const hits = shown.flatMap((curve) => draw(canvas, curve, x, y));
                return { height, hits };
            },
        });
    }

    function draw(canvas, { name, series, mark, of }, x, y) {
        const height = ({ product }) => y.at(Math.max(objective.amount(product), y.domain[0]));
        const at = (each) => [x.at(each.m), height(each)];
        const r = of.length > 60 ? 2 : 3.5;
        canvas.layer.append(
            charts.line(series, of.map(at)),
            charts.points(series, mark, of.map(at), r),
        );
        return of.map((each) => ({
            x: at(each)[0],
            y: at(each)[1],
            index: study.places.get(`${each.m},${each.p}`) ?? null,
            tip: () => [`${name}: ${text.pair(each.m, each.p)}`, objective.shown(each.product)],
        }));
    }

    return { create };
})();
