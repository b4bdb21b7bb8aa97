// How far the models are from what was measured: parity and residuals.
const plotsOfErrors = (() => {
    const { configurations, models, unit } = study;
    const { measured_s, low_s, high_s } = configurations;
    const BANDS = [10, 5];

    const legend = () => [
        ...models,
        ...BANDS.slice()
            .reverse()
            .map((percent) => ({
                name: `within ${percent}\u00a0%`,
                series: `band-${percent}`,
                isArea: true,
            })),
    ];

    const heightOf = ({ width, isPrinted }) =>
        isPrinted ? 240 : Math.max(Math.min(width * 0.8, 400), 280);

    const measured = () => study.indices.filter((k) => measured_s[k] !== null);

    /** Predicted against measured: on the diagonal they are equal. */
    function parity(parent) {
        charts.create(parent, {
            title: "Parity: predicted against measured",
            description:
                "Each configuration at its measured and its predicted time, as in the table of all configurations; on the diagonal both are equal.",
            legend: legend(),
            onPick: study.select,
            draw(canvas) {
                const of = measured();
                const times = [measured_s, ...models.map((each) => each.times)];
                const all = times.flatMap((column) => of.map((k) => column[k]));
                const domain = axes.roomy(axes.extent(all.filter((time) => time > 0)), "log");
                const height = heightOf(canvas);
                const area = { top: 8, bottom: height - 42, right: canvas.width - 10 };
                const y = axes.scale("log", domain, [area.bottom, area.top]);
                area.left = axes.leftMargin(y, { factor: unit.factor });
                const x = axes.scale("log", domain, [area.left, area.right]);
                const factor = unit.factor;
                canvas.layer.append(...BANDS.map((percent) => band(percent, x, y)));
                axes.draw(canvas.layer, {
                    x: { scale: x, label: `measured [${unit.name}]`, factor },
                    y: { scale: y, label: `predicted [${unit.name}]`, factor },
                    area,
                });
                const diagonal = [domain[0], domain[1]].map((time) => [x.at(time), y.at(time)]);
                canvas.layer.append(charts.line("reference", diagonal));
                // An interval given the runs has seen what was measured.
                if (study.hasIntervals && !study.hasRuns && of.length <= MOST_INTERVALS)
                    canvas.layer.append(intervals(of, x, y));
                const at = (k, time) => [x.at(measured_s[k]), y.at(time)];
                return { height, hits: marks(canvas, of, at) };
            },
        });
    }

    /** Where a prediction is off by at most so many percent. */
    function band(percent, x, y) {
        const [low, high] = x.domain;
        const clip = (time) => Math.min(Math.max(time, low), high);
        const edge = (factor, time) => {
            const predicted = clip(time * factor);
            return `${x.at(clip(predicted / factor)).toFixed(1)},${y.at(predicted).toFixed(1)}`;
        };
        const [up, down] = [1 + percent / 100, 1 - percent / 100];
        // The corners lie where the edges of the band leave the square.
        const corners = [
            edge(up, low),
            edge(up, high),
            `${x.at(high).toFixed(1)},${y.at(high).toFixed(1)}`,
            edge(down, high),
            edge(down, low),
            `${x.at(low).toFixed(1)},${y.at(low).toFixed(1)}`,
        ];
        return text.svg("path", { class: `band-${percent}`, d: `M${corners.join("L")}z` });
    }

    /** Of so many the intervals would hide the points; the plots of times show them as a band. */
    const MOST_INTERVALS = 200;

    function intervals(of, x, y) {
        const [low, high] = y.domain;
        const ends = (k) => [Math.max(low_s[k], low), Math.min(high_s[k], high)];
        // An interval that is hidden behind its mark is not drawn.
        const isVisible = ([, from, to]) => Math.abs(from - to) > 4;
        const places = of.map((k) => [x.at(measured_s[k]), ...ends(k).map((time) => y.at(time))]);
        return charts.whiskers("equation-11", places.filter(isVisible));
    }

    /** The points of all models; `at` places a time of a configuration. */
    function marks(canvas, of, at) {
        const hits = [];
        const r = of.length > 1000 ? 1.3 : of.length > 120 ? 2 : 3.5;
        for (const { series, mark, times } of models) {
            const places = of.map((k) => at(k, times[k]));
            canvas.layer.append(charts.points(series, mark, places, r));
            of.forEach((k, i) => {
                const [x, y] = places[i];
                hits.push({ x, y, index: k, tip: () => study.describe(k) });
            });
        }
        return hits;
    }

    /** The error of each model against the measured time. */
    function residuals(parent) {
        charts.create(parent, {
            title: "Residuals: error of each prediction",
            description:
                "Predicted minus measured time, in percent of the measured one, as in the table of all configurations.",
            legend: legend(),
            onPick: study.select,
            draw(canvas) {
                const of = measured();
                const errors = models.flatMap(({ times }) =>
                    of.map((k) => study.errorOf(times, k)),
                );
                const height = heightOf(canvas);
                const area = { top: 8, bottom: height - 42, right: canvas.width - 10 };
                const range = axes.roomy(axes.extent([...errors, -6, 6]), "linear");
                const y = axes.scale("linear", range, [area.bottom, area.top]);
                area.left = axes.leftMargin(y, {});
                const times = axes.roomy(axes.extent(of.map((k) => measured_s[k])), "log");
                const x = axes.scale("log", times, [area.left, area.right]);
                for (const percent of BANDS) {
                    const top = Math.max(y.at(percent), area.top);
                    const tall = Math.min(y.at(-percent), area.bottom) - top;
                    const wide = area.right - area.left;
                    const place = { x: area.left, y: top, width: wide, height: tall };
                    canvas.layer.append(text.svg("rect", { class: `band-${percent}`, ...place }));
                }
                axes.draw(canvas.layer, {
                    x: { scale: x, label: `measured [${unit.name}]`, factor: unit.factor },
                    y: { scale: y, label: "error [%]" },
                    area,
                });
                const zero = [area.left, area.right].map((place) => [place, y.at(0)]);
                canvas.layer.append(charts.line("reference", zero));
                const at = (k, time) => [
                    x.at(measured_s[k]),
                    y.at((100 * (time - measured_s[k])) / measured_s[k]),
                ];
                return { height, hits: marks(canvas, of, at) };
            },
        });
    }

    function draw(parent) {
        if (!study.hasMeasured) return;
        parity(parent);
        residuals(parent);
    }

    return { draw };
})();
