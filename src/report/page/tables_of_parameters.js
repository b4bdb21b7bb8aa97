// The tables of parameters, each value with its 95 % interval and its source.
const tablesOfParameters = (() => {
    const { element } = text;
    const { data } = study;

    /** Of rates no term is in seconds. */
    const SECONDS = objective.hasTimes ? "s" : "";

    const NAMES = {
        ...Object.fromEntries(
            data.parameters.table.map(({ name, symbol, meaning, unit }) => [
                name,
                [symbol, meaning, unit],
            ]),
        ),
        iterations: ["I", "iterations of the shared loop", ""],
        hardware_contexts: ["H", "hardware contexts of the host", ""],
        exposed_transfer_s: ["exposed", "first and last block of an off-load on their memory", SECONDS],
        demand: ["demand", "bytes that an APU streams in a second of T_APU", "B/s"],
        bandwidth: ["bandwidth", "bytes that a memory delivers in a second", "B/s"],
        memories: ["memories", "memories of that bandwidth", ""],
        work_growth_s: ["growth", "work that every further APU of a thread adds", SECONDS],
    };

    function written(value, unitOfTerm) {
        if (unitOfTerm === "s") return text.seconds(value);
        return unitOfTerm ? text.large(value, unitOfTerm) : text.count(value);
    }

    /** The 95 % interval of an estimate, as the library has it; null without a standard error. */
    const endsOf = ({ low, high }) =>
        low === null || low === undefined ? null : [low, high];

    const intervalOf = (estimate, unitOfTerm) => {
        const interval = endsOf(estimate);
        if (!interval) return "";
        const content = text.interval(estimate.value, interval, (end) => written(end, unitOfTerm));
        return element(
            "span",
            { title: interval.map((end) => `${end} ${unitOfTerm}`).join(" to ") },
            content,
        );
    };

    /** A table of estimates [{key, estimate}], with the 95 % intervals of Student's t. */
    function ofEstimates(parent, caption, rows) {
        const unitOf = ({ key }) => NAMES[key][2];
        const error = ({ estimate }) => estimate.std_error ?? null;
        const width = ({ estimate }) => {
            const interval = endsOf(estimate);
            return interval && estimate.value > 0
                ? (interval[1] - interval[0]) / estimate.value
                : null;
        };
        const columns = [
            {
                title: "term",
                isText: true,
                value: (row) => NAMES[row.key][0],
                cell: (row) => NAMES[row.key][0],
            },
            {
                title: "meaning",
                isText: true,
                value: (row) => NAMES[row.key][1],
                cell: (row) => NAMES[row.key][1],
            },
            {
                title: "value",
                value: (row) => row.estimate.value,
                cell: (row) =>
                    text.exact(
                        row.estimate.value,
                        written(row.estimate.value, unitOf(row)),
                        unitOf(row),
                    ),
            },
            {
                title: "95\u00a0% interval",
                hint: "sorted by its relative width",
                value: width,
                cell: (row) => intervalOf(row.estimate, unitOf(row)),
            },
            {
                title: "std. error",
                value: error,
                cell: (row) =>
                    error(row) === null
                        ? ""
                        : text.exact(error(row), written(error(row), unitOf(row)), unitOf(row)),
            },
            {
                title: "degrees of freedom",
                hint: "of the standard error",
                value: ({ estimate }) => estimate.degrees_of_freedom ?? null,
                cell: ({ estimate }) =>
                    estimate.degrees_of_freedom === null || estimate.degrees_of_freedom === undefined
                        ? ""
                        : text.count(estimate.degrees_of_freedom),
            },
            {
                title: "source",
                isText: true,
                value: ({ estimate }) => estimate.source ?? null,
                cell: ({ estimate }) => source(estimate),
            },
        ];
        tables.create(parent, { caption, columns, rows });
    }

    /** Where a value comes from, and what it carries besides its own. */
    function source(estimate) {
        const parts = estimate.source ? [text.name(estimate.source)] : [];
        if (estimate.combined_with?.length) {
            const names = estimate.combined_with.map((key) => NAMES[key]?.[0] ?? key).join(", ");
            parts.push(
                element("span", { class: "flag" }, "carries ", text.name(names), " as well"),
            );
        }
        return element("span", {}, parts);
    }

    function ofTerms(parent) {
        const { terms, refined, table } = data.parameters;
        const known = table.map(({ name }) => name).filter((key) => terms[key]);
        const tabled = known.filter((key) => terms[key].m);
        const rows = known
            .filter((key) => !terms[key].m)
            .map((key) => ({ key, estimate: terms[key] }));
        ofEstimates(parent, "Terms of equation 11", rows);
        if (tabled.length) overM(parent, tabled);
        const ofRefined = refined ? refinedRows(refined) : [];
        if (ofRefined.length) ofEstimates(parent, "Terms of the refined model", ofRefined);
        if (data.parameters.phases) ofPhases(parent);
    }

    function refinedRows(refined) {
        const counted = (value) => (value === null || value === undefined ? null : { value });
        return [
            ["iterations", counted(refined.iterations)],
            ["hardware_contexts", counted(refined.hardware_contexts)],
            ["exposed_transfer_s", refined.exposed_transfer_s],
            ["demand", refined.memory_demand_bytes_per_s],
            ["bandwidth", refined.memory_bandwidth_bytes_per_s],
            [
                "memories",
                refined.memory_of && {
                    value: refined.memories,
                    source:
                        refined.memory_of === "process"
                            ? "processes are dealt to them in turn"
                            : "APUs are dealt to them in turn",
                },
            ],
            ["work_growth_s", refined.work_growth_s],
        ]
            .filter(([, estimate]) => estimate)
            .map(([key, estimate]) => ({ key, estimate }));
    }

    /** One row of a term that is a table over m, of which everything known is a column. */
    const rowOf = (columns, index) =>
        Object.fromEntries(Object.entries(columns).map(([key, column]) => [key, column[index]]));

    /** alpha and O_COL where they are tables: a row for each m. */
    function overM(parent, keys) {
        const { terms } = data.parameters;
        const all = [...new Set(keys.flatMap((key) => terms[key].m))].sort((a, b) => a - b);
        const estimateOf = (key, at) => {
            const index = terms[key].m.indexOf(at);
            return index < 0 ? null : rowOf(terms[key], index);
        };
        const columns = [{ title: "m", value: (at) => at, cell: (at) => String(at) }];
        for (const key of keys) {
            const [name, , unitOfTerm] = NAMES[key];
            const value = (at) => estimateOf(key, at)?.value ?? null;
            const width = (at) => {
                const found = estimateOf(key, at);
                const interval = found && endsOf(found);
                return interval ? interval[1] - interval[0] : null;
            };
            columns.push(
                {
                    title: name,
                    value,
                    cell: (at) =>
                        value(at) === null
                            ? ""
                            : text.exact(value(at), written(value(at), unitOfTerm), unitOfTerm),
                },
                {
                    title: "95\u00a0% interval",
                    hint: "sorted by its width",
                    value: width,
                    cell: (at) =>
                        estimateOf(key, at) ? intervalOf(estimateOf(key, at), unitOfTerm) : "",
                },
                {
                    title: "source",
                    isText: true,
                    value: (at) => estimateOf(key, at)?.source ?? null,
                    cell: (at) => (estimateOf(key, at) ? source(estimateOf(key, at)) : ""),
                },
            );
        }
        tables.create(parent, {
            caption: `${keys.map((key) => NAMES[key][0]).join(" and ")} by m`,
            columns,
            rows: all,
        });
    }

    /** The part of each phase in the terms, with its standard error. */
    function ofPhases(parent) {
        const term = (key) => {
            const [name, , unitOfTerm] = NAMES[key];
            const error = (estimate) =>
                estimate.std_error ? ` ± ${written(estimate.std_error, unitOfTerm)}` : "";
            return {
                title: name,
                value: (phase) => phase.terms[key]?.value ?? null,
                cell: (phase) =>
                    phase.terms[key]
                        ? text.exact(
                              phase.terms[key].value,
                              written(phase.terms[key].value, unitOfTerm) + error(phase.terms[key]),
                              unitOfTerm,
                          )
                        : "",
            };
        };
        const { phases, table } = data.parameters;
        const keys = table.filter(({ of_phases }) => of_phases).map(({ name }) => name);
        const columns = [
            {
                title: "phase",
                isText: true,
                value: (phase) => phase.name,
                cell: (phase) => text.name(phase.name),
            },
            ...keys.map(term),
        ];
        tables.create(parent, {
            caption: "Phases, each ± its standard error",
            columns,
            rows: phases,
        });
    }

    return { draw: ofTerms, NAMES };
})();
