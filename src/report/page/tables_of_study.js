// The tables of the study: configurations, parameters, warnings, what to measure next, inputs.
const tablesOfStudy = (() => {
    const { element } = text;
    const { data, configurations, indices, unit } = study;
    const { m, p, time_s, low_s, high_s, refined_s, measured_s } = configurations;

    /** A column of times in the unit of all of them. */
    const timeColumn = (title, values, hint) => ({
        title: `${title} [${unit.name}]`,
        hint,
        value: (k) => values[k],
        cell: (k) =>
            values[k] === null ? "" : text.exact(values[k], text.digits(values[k] / unit.factor), "s"),
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
        cell: (k) => text.exact(values[k], text.percent(values[k])),
    });

    function configurationColumns() {
        const pick = (k) =>
            element(
                "button",
                {
                    type: "button", class: "pick", "aria-pressed": "false",
                    "aria-label": `Select ${text.pair(m[k], p[k])}, rank ${k + 1}`,
                },
                String(k + 1),
            );
        const columns = [
            { title: "rank", value: (k) => k, cell: pick },
            { title: "m", value: (k) => m[k], cell: (k) => String(m[k]) },
            { title: "p", value: (k) => p[k], cell: (k) => String(p[k]) },
            timeColumn("equation 11", time_s),
        ];
        if (study.hasIntervals) {
            const digits = (time) => text.digits(time / unit.factor, 3);
            const interval = (k) => {
                const written = text.interval(time_s[k], [low_s[k], high_s[k]], digits);
                return element("span", { title: `${low_s[k]} s to ${high_s[k]} s` }, written);
            };
            columns.push({ title: `95\u00a0% interval [${unit.name}]`, hint: "sorted by its width", value: (k) => high_s[k] - low_s[k], cell: interval });
        }
        if (refined_s) columns.push(timeColumn("refined", refined_s));
        if (study.hasMeasured) {
            columns.push(timeColumn("measured", measured_s), errorColumn("error, eq. 11", time_s));
            if (refined_s) columns.push(errorColumn("error, refined", refined_s));
        }
        if (study.hasIntervals) {
            columns.push(
                fractionColumn("best with", configurations.probability_best),
                {
                    title: "=", hint: "cannot be told from the best",
                    value: (k) => configurations.indistinguishable[k],
                    cell: (k) => (configurations.indistinguishable[k] ? "=" : ""),
                },
                timeColumn("regret", configurations.expected_regret_s, "expected loss by choosing it"),
                timeColumn("95\u00a0% regret", configurations.regret_95_s),
            );
        }
        const speedup = configurations.speedup;
        columns.push(
            { title: "speed-up", value: (k) => speedup[k], cell: (k) => text.exact(speedup[k], text.digits(speedup[k])) },
            fractionColumn("efficiency", configurations.efficiency),
        );
        return columns;
    }

    /** Fields that keep the rows of one m or one p. */
    function filters(choose) {
        const field = (label) => element("input", { type: "number", min: 1, inputmode: "numeric", "aria-label": `only ${label} =` });
        const [ofM, ofP] = [field("m"), field("p")];
        const change = () => choose((k) => (!ofM.value || m[k] === Number(ofM.value)) && (!ofP.value || p[k] === Number(ofP.value)));
        for (const input of [ofM, ofP]) input.addEventListener("input", change);
        return element("div", { class: "controls filters" }, "only m =", ofM, "p =", ofP);
    }

    function ofConfigurations(parent) {
        const created = tables.create(parent, {
            caption: "All feasible configurations (m, p)",
            isHeaded: true,
            columns: configurationColumns(),
            rows: indices,
            onRow: study.select,
            rowKey: (k) => k,
            filters,
        });
        study.onSelect(created.mark);
    }

    const NAMES = {
        t_hpu_s: ["T_HPU", "host time of a sequential run", "s"],
        t_apu_s: ["T_APU", "APU time that p APUs share", "s"],
        c_apu_s: ["C_APU", "APU time that they cannot share", "s"],
        offloads: ["N", "off-loads in the run", ""],
        o_offload_s: ["O_offload", "signals, arguments and result, per off-load", "s"],
        t_csw_s: ["T_CSW", "context switch on the host, per off-load", "s"],
        g_s: ["g", "gap, per off-load and APU", "s"],
        collectives: ["K", "collectives in the run", ""],
        alpha: ["α", "slowdown of host code under m > 1 threads", ""],
        o_col_s: ["O_COL", data.parameters.terms.collectives ? "synchronisation, per collective" : "synchronisation, per off-load", "s"],
        iterations: ["I", "iterations of the shared loop", ""],
        hardware_contexts: ["H", "hardware contexts of the host", ""],
        exposed_transfer_s: ["exposed", "first and last block of an off-load on their memory", "s"],
        demand: ["demand", "bytes that an APU streams in a second of T_APU", "B/s"],
        bandwidth: ["bandwidth", "bytes that a memory delivers in a second", "B/s"],
        memories: ["memories", "memories of that bandwidth", ""],
        work_growth_s: ["growth", "work that every further APU of a thread adds", "s"],
    };

    function written(value, unitOfTerm) {
        if (unitOfTerm === "s") return text.seconds(value);
        return unitOfTerm ? text.large(value, unitOfTerm) : text.count(value);
    }

    const intervalOf = (estimate, unitOfTerm) => {
        const interval = statistics.interval(estimate);
        if (!interval) return "";
        const content = text.interval(estimate.value, interval, (end) => written(end, unitOfTerm));
        return element("span", { title: interval.map((end) => `${end} ${unitOfTerm}`).join(" to ") }, content);
    };

    /** A table of estimates [{key, estimate}], with the 95 % intervals of Student's t. */
    function ofEstimates(parent, caption, rows) {
        const unitOf = ({ key }) => NAMES[key][2];
        const error = ({ estimate }) => estimate.std_error ?? null;
        const width = ({ estimate }) => {
            const interval = statistics.interval(estimate);
            return interval && estimate.value > 0 ? (interval[1] - interval[0]) / estimate.value : null;
        };
        const columns = [
            { title: "term", isText: true, value: (row) => NAMES[row.key][0], cell: (row) => NAMES[row.key][0] },
            { title: "meaning", isText: true, value: (row) => NAMES[row.key][1], cell: (row) => NAMES[row.key][1] },
            { title: "value", value: (row) => row.estimate.value, cell: (row) => text.exact(row.estimate.value, written(row.estimate.value, unitOf(row)), unitOf(row)) },
            { title: "95\u00a0% interval", hint: "sorted by its relative width", value: width, cell: (row) => intervalOf(row.estimate, unitOf(row)) },
            { title: "std. error", value: error, cell: (row) => (error(row) === null ? "" : text.exact(error(row), written(error(row), unitOf(row)), unitOf(row))) },
            { title: "freedom", hint: "degrees of freedom of the standard error", value: ({ estimate }) => estimate.freedom ?? null, cell: ({ estimate }) => (estimate.freedom === null || estimate.freedom === undefined ? "" : text.count(estimate.freedom)) },
            { title: "source", isText: true, value: ({ estimate }) => estimate.source ?? null, cell: ({ estimate }) => source(estimate) },
        ];
        tables.create(parent, { caption, columns, rows });
    }

    /** Where a value comes from, and what it carries besides its own. */
    function source(estimate) {
        const parts = estimate.source ? [text.name(estimate.source)] : [];
        if (estimate.combined_with?.length) {
            const names = estimate.combined_with.map((key) => NAMES[key]?.[0] ?? key).join(", ");
            parts.push(element("span", { class: "flag" }, "carries ", text.name(names), " as well"));
        }
        return element("span", {}, parts);
    }

    function ofTerms(parent) {
        const { terms, refined } = data.parameters;
        const rows = [...equations.SCALARS, "collectives"]
            .filter((key) => terms[key])
            .map((key) => ({ key, estimate: terms[key] }));
        const tabled = ["alpha", "o_col_s"].filter((key) => !terms[key].constant);
        for (const key of ["alpha", "o_col_s"]) {
            if (terms[key].constant) rows.push({ key, estimate: terms[key].constant });
        }
        ofEstimates(parent, "Terms of equation 11", rows);
        if (tabled.length) overM(parent, tabled);
        if (refined) ofEstimates(parent, "Terms of the refined model", refinedRows(refined));
        if (data.parameters.phases.length) ofPhases(parent);
    }

    function refinedRows(refined) {
        const counted = (value) => (value === null || value === undefined ? null : { value });
        const { memory } = refined;
        return [
            ["iterations", counted(refined.iterations)],
            ["hardware_contexts", counted(refined.hardware_contexts)],
            ["exposed_transfer_s", refined.exposed_transfer_s],
            ["demand", memory?.demand_bytes_per_s],
            ["bandwidth", memory?.bandwidth_bytes_per_s],
            ["memories", memory && { value: memory.memories, source: memory.placement === "process" ? "processes are dealt to them in turn" : "APUs are dealt to them in turn" }],
            ["work_growth_s", refined.work_growth_s],
        ]
            .filter(([, estimate]) => estimate)
            .map(([key, estimate]) => ({ key, estimate }));
    }

    /** alpha and O_COL where they are tables: a row for each m. */
    function overM(parent, keys) {
        const { terms } = data.parameters;
        const all = [...new Set(keys.flatMap((key) => terms[key].m))].sort((a, b) => a - b);
        const estimateOf = (key, at) => terms[key].values[terms[key].m.indexOf(at)] ?? null;
        const columns = [{ title: "m", value: (at) => at, cell: (at) => String(at) }];
        for (const key of keys) {
            const [name, , unitOfTerm] = NAMES[key];
            const value = (at) => estimateOf(key, at)?.value ?? null;
            const width = (at) => {
                const found = estimateOf(key, at);
                const interval = found && statistics.interval(found);
                return interval ? interval[1] - interval[0] : null;
            };
            columns.push(
                { title: name, value, cell: (at) => (value(at) === null ? "" : text.exact(value(at), written(value(at), unitOfTerm), unitOfTerm)) },
                { title: "95\u00a0% interval", hint: "sorted by its width", value: width, cell: (at) => (estimateOf(key, at) ? intervalOf(estimateOf(key, at), unitOfTerm) : "") },
                { title: "source", isText: true, value: (at) => estimateOf(key, at)?.source ?? null, cell: (at) => (estimateOf(key, at) ? source(estimateOf(key, at)) : "") },
            );
        }
        tables.create(parent, { caption: `${keys.map((key) => NAMES[key][0]).join(" and ")} by m`, columns, rows: all });
    }

    /** The part of each phase in the terms, with its standard error. */
    function ofPhases(parent) {
        const term = (key) => {
            const [name, , unitOfTerm] = NAMES[key];
            const error = (estimate) => (estimate.std_error ? ` ± ${written(estimate.std_error, unitOfTerm)}` : "");
            return {
                title: name,
                value: (phase) => phase[key]?.value ?? null,
                cell: (phase) => (phase[key] ? text.exact(phase[key].value, written(phase[key].value, unitOfTerm) + error(phase[key]), unitOfTerm) : ""),
            };
        };
        const keys = ["t_hpu_s", "t_apu_s", "c_apu_s", "offloads", "g_s", "collectives"];
        const columns = [
            { title: "phase", isText: true, value: (phase) => phase.name, cell: (phase) => text.name(phase.name) },
            ...keys.map(term),
        ];
        tables.create(parent, { caption: "Phases, each ± its standard error", columns, rows: data.parameters.phases });
    }

    function ofWarnings(parent) {
        if (data.warnings.length === 0) {
            parent.append(element("p", { class: "note" }, "There are none."));
            return;
        }
        const rows = data.warnings.map((warning, index) => ({ warning, index }));
        const columns = [
            { title: "no.", value: (row) => row.index, cell: (row) => String(row.index + 1) },
            { title: "warning", isText: true, value: (row) => row.warning, cell: (row) => text.name(row.warning) },
        ];
        tables.create(parent, { caption: "Warnings", isHeaded: true, columns, rows });
    }

    function ofNext(parent) {
        const { next } = data;
        if (!next || next.measurements.length === 0) {
            const why = "Not known: no term has a standard error that a measurement could lower.";
            parent.append(element("p", { class: "note" }, why));
            return;
        }
        const lead = `As things stand, the choice is expected to cost ${text.seconds(next.expected_regret_s)} more than the fastest configuration. Each row is one further measurement, timed runs with a noise of ${text.percent(next.noise)}.`;
        parent.append(element("p", {}, lead));
        const time = (title, key, hint) => ({
            title, hint, value: (row) => row[key], cell: (row) => text.exact(row[key], text.seconds(row[key]), "s"),
        });
        const columns = [
            { title: "measurement", isText: true, value: (row) => row.what, cell: (row) => text.name(row.what) },
            time("lowers the regret by", "gain_s"),
            time("std. error of the best then", "error_of_best_s"),
        ];
        tables.create(parent, { caption: "What to measure next", isHeaded: true, columns, rows: next.measurements });
    }

    function ofInputs(parent) {
        const { inputs } = data.provenance;
        const columns = [
            { title: "file", isText: true, value: (row) => row.file, cell: (row) => text.name(row.file) },
            { title: "role", isText: true, value: (row) => row.role, cell: (row) => text.name(row.role) },
            { title: "bytes", value: (row) => row.bytes, cell: (row) => text.count(row.bytes) },
            { title: "SHA-256", isText: true, value: (row) => row.sha256, cell: (row) => element("code", {}, row.sha256) },
        ];
        tables.create(parent, { caption: "Inputs", columns, rows: inputs });
    }

    return { ofConfigurations, ofTerms, ofWarnings, ofNext, ofInputs, NAMES };
})();
