// The selected configuration: its times, its terms by both models, and its measured split.
const panel = (() => {
    const { element, svg } = text;
    const { configurations, TERMS, PARTS } = study;
    const { m, p, measured_s, refined_s, speedup, efficiency } = configurations;

    /** The stacks of a configuration: [{name, parts, labels}], left to right. */
    function stacks(k) {
        const found = [{ name: "equation 11", parts: study.equation11(k), labels: TERMS }];
        if (refined_s) {
            found.push({ name: "refined model", parts: study.refined(k), labels: TERMS });
        }
        const measured = study.splitOf(k);
        if (measured) found.push({ name: "measured", parts: measured, labels: PARTS });
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

    /** One fact: what it is, and its value. */
    const fact = (label, ...value) => [element("dt", {}, label), element("dd", {}, ...value)];

    function facts(k) {
        const { probability_best, expected_regret_s, regret_95_s, indistinguishable } =
            configurations;
        const off = (times) => {
            const error = study.errorOf(times, k);
            return error === null ? "" : ` (${text.deviation(error)})`;
        };
        const found = [
            fact("rank", `${text.count(k + 1)} of ${text.count(study.size)}`),
        ];
        const { hasRuns, ranked_s, withInterval } = study;
        const ranked = text.exact(ranked_s[k], withInterval(k), "s");
        const time = configurations.time_s[k];
        const own = hasRuns ? text.exact(time, text.seconds(time), "s") : ranked;
        if (hasRuns) found.push(fact("given the runs", ranked));
        found.push(fact("equation 11", own, off(configurations.time_s)));
        if (refined_s) {
            const time = text.exact(refined_s[k], text.seconds(refined_s[k]), "s");
            found.push(fact("refined model", time, off(refined_s)));
        }
        if (study.hasMeasured) {
            const time = measured_s[k];
            found.push(
                fact(
                    "measured",
                    time === null ? "not measured" : text.exact(time, study.measuredTime(k), "s"),
                ),
            );
        }
        found.push(
            fact(
                "speed-up",
                `${text.digits(speedup[k])}, efficiency ${text.percent(efficiency[k])}`,
            ),
        );
        if (study.hasIntervals) {
            const probability = probability_best[k];
            const sure = probability === null ? "not known" : `with ${text.percent(probability)}`;
            const isClose = indistinguishable[k] && k > 0;
            found.push(
                fact("is the best", `${sure}${isClose ? "; cannot be told from rank 1" : ""}`),
                fact(
                    "regret",
                    `${text.seconds(expected_regret_s[k])} expected, ${text.seconds(regret_95_s[k])} at 95\u00a0%`,
                ),
            );
        }
        return element("dl", { class: "facts" }, found);
    }

    /** Bars of all stacks on one scale, each cut into its parts. */
    function bars(shown) {
        const most = Math.max(...shown.map(({ parts }) => total(parts))) || 1;
        return shown.map(({ name, parts, labels }) => {
            const bar = svg("svg", {
                class: "bar",
                viewBox: "0 0 1000 10",
                preserveAspectRatio: "none",
                "aria-hidden": "true",
            });
            let sum = 0;
            for (const [part, time] of fromBelow(parts)) {
                const [x, width] = [(1000 * sum) / most, (1000 * time) / most];
                bar.append(
                    svg("rect", { class: `part ${labels[part][2]}`, x, y: 0, width, height: 10 }),
                );
                sum += time;
            }
            return element("div", { class: "bar-row" }, element("span", {}, name), bar);
        });
    }

    const swatch = (part) =>
        svg(
            "svg",
            { class: "swatch", width: 11, height: 11, "aria-hidden": "true" },
            svg("rect", { class: `part ${part}`, width: 11, height: 11 }),
        );

    /** A time of a part and its share of the whole, in two cells. */
    function timeAndShare(time, sum, unit) {
        if (time === undefined) return [element("td"), element("td", { class: "share" })];
        const written = time === 0 ? "0" : text.digits(time / unit.factor);
        return [
            element("td", { title: `${time} s`, "data-value": time }, written),
            element("td", { class: "share" }, sum > 0 ? text.percent(time / sum) : ""),
        ];
    }

    /** The numbers of some columns of parts, a row for each part and one for their sum. */
    function numbers(caption, labels, columns, unit) {
        const sums = columns.map(({ parts }) => total(parts));
        // A refined term of 0 says nothing; those of equation 11 are always there.
        const first = columns[0].parts;
        const keys = Object.keys(labels).filter(
            (key) => key in first || columns.some(({ parts }) => parts[key] > 0),
        );
        const rows = keys.map((key) => {
            const [name, meaning, part] = labels[key];
            const head = element("th", { scope: "row", title: meaning }, swatch(part), ` ${name}`);
            const cells = columns.flatMap(({ parts }, i) =>
                timeAndShare(parts[key], sums[i], unit),
            );
            return element("tr", { "data-part": key }, head, cells);
        });
        const whole = columns.flatMap((_, i) => timeAndShare(sums[i], sums[i], unit));
        const heads = columns.map(({ name }) => element("th", { scope: "col", colspan: 2 }, name));
        return element(
            "table",
            { class: "parts" },
            element("caption", {}, `${caption} [${unit.name}]`),
            element("thead", {}, element("tr", {}, element("td"), heads)),
            element("tbody", {}, rows),
            element("tfoot", {}, element("tr", {}, element("th", { scope: "row" }, "sum"), whole)),
        );
    }

    const body = document.getElementById("selection-body");
    const heading = document.getElementById("selection-title");
    const bar = document.getElementById("selection-bar");

    function show(k) {
        const shown = stacks(k);
        const modelled = shown.filter(({ labels }) => labels === TERMS);
        const measured = shown.filter(({ labels }) => labels === PARTS);
        const unit = text.commonUnit(shown.map(({ parts }) => total(parts)));
        heading.textContent = `m = ${m[k]}, p = ${p[k]}`;
        body.replaceChildren(
            facts(k),
            ...bars(shown),
            numbers("Terms of the models", TERMS, modelled, unit),
        );
        if (measured.length) {
            body.append(numbers("Measured split", PARTS, measured, unit));
        } else if (study.hasMeasured && !study.hasRuns) {
            body.append(
                element(
                    "p",
                    { class: "note" },
                    "Where the measured time went is not known (no split.csv).",
                ),
            );
        } else if (!study.hasMeasured) {
            const advice = "Nothing was measured: mmgp report --runs takes timed runs.";
            body.append(element("p", { class: "note" }, advice));
        }
        const lines = study.describe(k);
        bar.textContent = `${text.pair(m[k], p[k])} ${text.seconds(study.ranked_s[k])}: breakdown`;
        charts.spoken.textContent = `Selected ${lines.join(", ")}`;
    }

    return { show, numbers };
})();
