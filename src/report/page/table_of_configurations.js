// The table of all configurations.
const tableOfConfigurations = (() => {
    const { element } = text;
    const { configurations, indices, unit } = study;
    const { m, p, time_s, low_s, high_s, refined_s, measured_s } = configurations;

    /** A column of times in the unit of all of them. */
    const timeColumn = (title, values, hint) => ({
        title: `${title} [${unit.name}]`,
        hint,
        value: (k) => values[k],
        cell: (k) =>
            values[k] === null
                ? ""
                : text.exact(values[k], text.digits(values[k] / unit.factor), "s"),
    });

    const errorColumn = (title, times) => ({
        title,
        value: (k) => study.errorOf(times, k),
        cell: (k) => {
            const error = study.errorOf(times, k);
            return error === null ? "" : text.exact(error, text.deviation(error), "%");
        },
    });

    const fractionColumn = (title, values) => ({
        title,
        value: (k) => values[k],
        cell: (k) => (values[k] === null ? "" : text.exact(values[k], text.percent(values[k]))),
    });

    const repetitionColumn = {
        title: "runs",
        hint: "how often it was run; the time is their median",
        value: (k) => configurations.repetitions[k],
        cell: (k) => {
            const count = configurations.repetitions[k];
            return count === null ? "" : text.count(count);
        },
    };

    function configurationColumns() {
        const pick = (k) =>
            element(
                "button",
                {
                    type: "button",
                    class: "pick",
                    "aria-pressed": "false",
                    "aria-label": `Select ${text.pair(m[k], p[k])}, rank ${k + 1}`,
                },
                String(k + 1),
            );
        const columns = [
            { title: "rank", value: (k) => k, cell: pick },
            { title: "m", value: (k) => m[k], cell: (k) => String(m[k]) },
            { title: "p", value: (k) => p[k], cell: (k) => String(p[k]) },
        ];
        const { ranked_s, hasRuns } = study;
        columns.push(timeColumn(hasRuns ? "given the runs" : "equation 11", ranked_s));
        if (study.hasIntervals) {
            const digits = (time) => text.digits(time / unit.factor, 3);
            const interval = (k) => {
                const written = text.interval(ranked_s[k], [low_s[k], high_s[k]], digits);
                return element("span", { title: `${low_s[k]} s to ${high_s[k]} s` }, written);
            };
            columns.push({
                title: `95\u00a0% interval [${unit.name}]`,
                hint: "sorted by its width",
                value: (k) => high_s[k] - low_s[k],
                cell: interval,
            });
        }
        if (hasRuns) columns.push(timeColumn("measured", measured_s), repetitionColumn);
        if (hasRuns) columns.push(timeColumn("equation 11", time_s));
        if (refined_s) columns.push(timeColumn("refined", refined_s));
        if (study.hasMeasured) {
            if (!hasRuns) columns.push(timeColumn("measured", measured_s));
            columns.push(errorColumn("error, eq. 11", time_s));
            if (refined_s) columns.push(errorColumn("error, refined", refined_s));
        }
        if (study.hasIntervals) {
            columns.push(
                fractionColumn("best with", configurations.probability_best),
                {
                    title: "=",
                    hint: "cannot be told from the best",
                    value: (k) => configurations.indistinguishable[k],
                    cell: (k) => (configurations.indistinguishable[k] ? "=" : ""),
                },
                timeColumn(
                    "regret",
                    configurations.expected_regret_s,
                    "expected loss by choosing it",
                ),
                timeColumn("95\u00a0% regret", configurations.regret_95_s),
            );
        }
        const speedup = configurations.speedup;
        columns.push(
            {
                title: "speed-up",
                value: (k) => speedup[k],
                cell: (k) => text.exact(speedup[k], text.digits(speedup[k])),
            },
            fractionColumn("efficiency", configurations.efficiency),
        );
        return columns;
    }

    /** Fields that keep the rows of one m or one p. */
    function filters(choose) {
        const field = (label) =>
            element("input", {
                type: "number",
                min: 1,
                inputmode: "numeric",
                "aria-label": `only ${label} =`,
            });
        const [ofM, ofP] = [field("m"), field("p")];
        const change = () =>
            choose(
                (k) =>
                    (!ofM.value || m[k] === Number(ofM.value)) &&
                    (!ofP.value || p[k] === Number(ofP.value)),
            );
        for (const input of [ofM, ofP]) input.addEventListener("input", change);
        return element("div", { class: "controls filters" }, "only m =", ofM, "p =", ofP);
    }

    function draw(parent) {
        const created = tables.create(parent, {
            caption: study.hasRuns
                ? "All configurations (m, p) within what was timed"
                : "All feasible configurations (m, p)",
            isHeaded: true,
            columns: configurationColumns(),
            rows: indices,
            onRow: study.select,
            rowKey: (k) => k,
            filters,
        });
        study.onSelect(created.mark);
    }

    return { draw };
})();
