// The other tables of a study: warnings, what to measure next, inputs.
const tablesOfStudy = (() => {
    const { element } = text;
    const { data } = study;

    function ofWarnings(parent) {
        if (data.warnings.length === 0) {
            parent.append(element("p", { class: "note" }, "There are none."));
            return;
        }
        const rows = data.warnings.map((warning, index) => ({ warning, index }));
        const columns = [
            { title: "no.", value: (row) => row.index, cell: (row) => String(row.index + 1) },
            {
                title: "warning",
                isText: true,
                value: (row) => row.warning,
                cell: (row) => text.name(row.warning),
            },
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
            title,
            hint,
            value: (row) => row[key],
            cell: (row) => text.exact(row[key], text.seconds(row[key]), "s"),
        });
        const columns = [
            {
                title: "measurement",
                isText: true,
                value: (row) => row.what,
                cell: (row) => text.name(row.what),
            },
            time("lowers the regret by", "gain_s"),
            time("std. error of the best then", "error_of_best_s"),
        ];
        tables.create(parent, {
            caption: "What to measure next",
            isHeaded: true,
            columns,
            rows: next.measurements,
        });
    }

    function ofInputs(parent) {
        const { inputs } = data.provenance;
        const columns = [
            {
                title: "file",
                isText: true,
                value: (row) => row.file,
                cell: (row) => text.name(row.file),
            },
            {
                title: "role",
                isText: true,
                value: (row) => row.role,
                cell: (row) => text.name(row.role),
            },
            { title: "bytes", value: (row) => row.bytes, cell: (row) => text.count(row.bytes) },
            {
                title: "SHA-256",
                isText: true,
                value: (row) => row.sha256,
                cell: (row) => element("code", {}, row.sha256),
            },
        ];
        tables.create(parent, { caption: "Inputs", columns, rows: inputs });
    }

    return { ofWarnings, ofNext, ofInputs };
})();
