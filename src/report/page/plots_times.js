// Modelled against measured times: by m, by p, and over all (m, p).
const plotsOfTimes = (() => {
    const { element } = text;
    const { m, p, low_s, high_s } = study.configurations;
    const { predictions } = study;
    const shown = study.hasMeasured ? [...predictions, study.MEASURED] : predictions;

    const BAND = study.hasRuns ? "band of-believed" : "band";

    function legend() {
        const entries = predictions.map((each) => ({ ...each, isLine: true }));
        if (study.hasMeasured) entries.push(study.MEASURED);
        if (study.hasIntervals) {
            const [{ name }] = predictions;
            const ofWhat = study.hasRuns ? name : `of ${name}`;
            entries.push({ name: `95 % interval ${ofWhat}`, series: BAND, isArea: true });
        }
        return entries;
    }

    /** The domain of all times that are shown; intervals may double its reach, no more. */
    function domain(of) {
        const all = (columns) => columns.flatMap((times) => of.map((k) => times[k]));
        const positive = (times) => times.filter((time) => time > 0);
        const [low, high] = axes.extent(positive(all(shown.map(({ times }) => times))));
        const clipped = (time) => Math.min(Math.max(time, low / 2), high * 2);
        const ends = positive(all([low_s, high_s])).map(clipped);
        return axes.roomy(axes.extent([low, high, ...ends]), "log");
    }

    /** The frame of a chart of times: axes, and scales of both. */
    function frame(canvas, { of, xDomain, xKind, xLabel, xTicks, isWhole, height }) {
        const unit = text.commonUnit(of.map((k) => study.ranked_s[k]));
        const area = { top: 8, bottom: height - 42, right: canvas.width - 10, left: 0 };
        const vertical = axes.scale("log", domain(of), [area.bottom, area.top]);
        area.left = axes.leftMargin(vertical, { factor: unit.factor });
        const x = axes.scale(xKind, xDomain, [area.left, area.right]);
        axes.draw(canvas.layer, {
            x: { scale: x, label: xLabel, isWhole, ticks: xTicks && xTicks(x) },
            y: { scale: vertical, label: `time [${unit.name}]`, factor: unit.factor },
            area,
        });
        return { x, y: vertical, area };
    }

    /** Draws all series of these configurations at their x, and returns what answers. */
    function series(canvas, { of, at, y, isJoined }) {
        const hits = [];
        const usual = of.length > 1000 ? 1.3 : of.length > 120 ? 1.8 : 3.5;
        if (study.hasIntervals) canvas.layer.append(band(of, at, y, isJoined));
        for (const { series, mark, times } of shown) {
            // A few runs among thousands of predictions are to be seen.
            const r = study.hasRuns && series === "measured" ? Math.max(usual, 2.5) : usual;
            const known = of.filter((k) => times[k] !== null);
            const places = known.map((k) => [at(k), y.at(times[k])]);
            if (series !== "measured") {
                const isBreak = (i) => i > 0 && !isJoined(known[i - 1], known[i]);
                const broken = places.flatMap((place, i) => (isBreak(i) ? [null, place] : [place]));
                canvas.layer.append(charts.line(series, broken));
            }
            canvas.layer.append(charts.points(series, mark, places, r));
            known.forEach((k, i) => {
                const [x, yHere] = places[i];
                hits.push({ x, y: yHere, index: k, tip: () => study.describe(k) });
            });
        }
        return hits;
    }

    /** The interval of what is ranked as an area, broken where points are not joined. */
    function band(of, at, y, isJoined) {
        const runs = [];
        of.forEach((k, i) => {
            if (i === 0 || !isJoined(of[i - 1], k)) runs.push([]);
            runs[runs.length - 1].push(k);
        });
        const [low, high] = y.domain;
        const place = (k, time) =>
            `${at(k).toFixed(1)},${y.at(Math.min(Math.max(time, low), high)).toFixed(1)}`;
        // One configuration alone has its interval as wide as its mark.
        const half = Math.max(Math.min(300 / of.length, 4), 0.5);
        const bar = (k) => {
            const [top, bottom] = [high_s[k], low_s[k]].map((time) => place(k, time).split(",")[1]);
            return `M${(at(k) - half).toFixed(1)},${top}h${2 * half}V${bottom}h${-2 * half}z`;
        };
        const outline = (run) => {
            if (run.length === 1) return bar(run[0]);
            const there = run.map((k) => place(k, high_s[k]));
            const back = run
                .slice()
                .reverse()
                .map((k) => place(k, low_s[k]));
            return `M${[...there, ...back].join("L")}z`;
        };
        return text.svg("path", { class: BAND, d: runs.map(outline).join("") });
    }

    const always = () => true;

    /** The value at which most was measured. */
    function mostMeasured(fixed, values) {
        const ran = study.indices.filter((k) => study.configurations.measured_s[k] !== null);
        const count = (value) => ran.filter((k) => fixed[k] === value).length;
        return values.reduce((most, value) => (count(value) > count(most) ? value : most));
    }

    /** Time along one number at a fixed value of the other. */
    function slice(parent, { along, fixed, alongName, fixedName, title }) {
        const values = [...new Set(fixed)].sort((a, b) => a - b);
        const choice = element(
            "select",
            {},
            values.map((value) => element("option", { value }, String(value))),
        );
        let value = study.hasRuns ? mostMeasured(fixed, values) : values[0];
        choice.value = String(value);
        const chart = charts.create(parent, {
            title,
            description: `Times at one ${fixedName}, as in the table of all configurations.`,
            controls: [element("label", {}, `${fixedName} = `, choice)],
            legend: legend(),
            onPick: study.select,
            draw(canvas) {
                const height = canvas.isPrinted ? 220 : 280;
                const of = study.indices
                    .filter((k) => fixed[k] === value)
                    .sort((a, b) => along[a] - along[b]);
                const last = along[of[of.length - 1]];
                const xKind = last > 64 ? "log" : "linear";
                const xDomain = axes.roomy([along[of[0]], Math.max(last, 2)], xKind, 0.03);
                const xLabel = alongName;
                const { x, y } = frame(canvas, {
                    of,
                    xDomain,
                    xKind,
                    xLabel,
                    isWhole: true,
                    height,
                });
                const hits = series(canvas, { of, at: (k) => x.at(along[k]), y, isJoined: always });
                return { height, hits };
            },
        });
        choice.addEventListener("change", () => {
            value = Number(choice.value);
            chart.redraw();
        });
    }

    /** All configurations beside each other. */
    function overAll(parent) {
        const byRank = study.hasRuns ? "rank" : "predicted time";
        const orders = { "m, then p": study.byMThenP, [byRank]: study.indices };
        const choice = element(
            "select",
            {},
            Object.keys(orders).map((name) => element("option", {}, name)),
        );
        const chart = charts.create(parent, {
            title: "Time of every configuration (m, p)",
            isWide: true,
            description:
                "Times of all models and measured times, as in the table of all configurations.",
            controls: [element("label", {}, "order by ", choice)],
            legend: legend(),
            onPick: study.select,
            draw(canvas) {
                const height = canvas.isPrinted ? 260 : 320;
                const of = orders[choice.value];
                const isGrouped = of === study.byMThenP;
                const position = new Map(of.map((k, i) => [k, i]));
                const { x, y, area } = frame(canvas, {
                    of,
                    height,
                    xKind: "linear",
                    xDomain: [-0.7, of.length - 0.3],
                    xLabel: isGrouped
                        ? "m; within each group p grows"
                        : `rank ${study.hasRuns ? "" : "by "}${predictions[0].name}`,
                    xTicks: (scale) => (isGrouped ? ofGroups(of, scale) : ofRanks(of, scale)),
                });
                if (isGrouped) canvas.layer.append(separators(of, x, area));
                const isJoined = (a, b) => !isGrouped || m[a] === m[b];
                const at = (k) => x.at(position.get(k));
                return { height, hits: series(canvas, { of, at, y, isJoined }) };
            },
        });
        choice.addEventListener("change", () => chart.redraw());
    }

    /** Ticks that do not overlap, in their order. */
    function clear(ticks) {
        let end = -Infinity;
        return ticks.filter(({ at, label }) => {
            const half = axes.wide(label.length) / 2 + 3;
            if (at - half < end) return false;
            end = at + half;
            return true;
        });
    }

    /** A tick in the middle of each group of the same m. */
    function ofGroups(of, x) {
        const ticks = [];
        let first = 0;
        of.forEach((k, i) => {
            if (i + 1 < of.length && m[of[i + 1]] === m[k]) return;
            ticks.push({ at: x.at((first + i) / 2), label: String(m[k]) });
            first = i + 1;
        });
        return clear(ticks);
    }

    function ofRanks(of, x) {
        const ticks = [{ at: x.at(0), label: "1" }];
        const step = 5 * 10 ** Math.floor(Math.log10(Math.max(of.length / 4, 1)));
        for (let rank = step; rank <= of.length; rank += step) {
            ticks.push({ at: x.at(rank - 1), label: text.count(rank) });
        }
        return clear(ticks);
    }

    /** Lines between groups that have room for them. */
    function separators(of, x, { top, bottom }) {
        let d = "";
        let last = -Infinity;
        of.forEach((k, i) => {
            const place = x.at(i + 0.5);
            if (i + 1 === of.length || m[of[i + 1]] === m[k] || place - last < 16) return;
            d += `M${place.toFixed(1)},${top}V${bottom}`;
            last = place;
        });
        return text.svg("path", { class: "grid", d });
    }

    function draw(parent) {
        slice(parent, {
            along: m,
            fixed: p,
            alongName: "host threads m",
            fixedName: "p",
            title: "Time by m",
        });
        slice(parent, {
            along: p,
            fixed: m,
            alongName: "APUs of each thread, p",
            fixedName: "m",
            title: "Time by p",
        });
        overAll(parent);
    }

    return { draw };
})();
