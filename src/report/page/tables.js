// Sortable tables, shown in pages where they are long.
const tables = (() => {
    const { element } = text;
    const PAGE = 50;

    /** Compares numbers or texts; what is missing comes last in either direction. */
    function compare(a, b, direction) {
        if (a === null || b === null) return (a === null) - (b === null);
        if (typeof a === "number") return direction * (a - b);
        return direction * String(a).localeCompare(String(b), "en", { numeric: true });
    }

    /**
     * A table with a caption, unseen where a heading says the same, whose columns {title, value(row), cell(row), isText, unit} sort by their value. Each
     * cell is text or an element; without `cell` the value is written with four digits.
     */
    function create(parent, { caption, isHeaded, columns, rows, onRow, rowKey, filters }) {
        let order = rows.slice();
        let kept = order;
        let page = 0;
        let sorted = { column: -1, direction: 1 };
        let keep = () => true;
        const drawn = new Map();
        let marked = null;
        const heads = columns.map((column, index) => head(column, () => sort(index)));
        const tbody = element("tbody");
        const table = element(
            "table",
            { class: "data" },
            element("caption", { class: isHeaded ? "unseen" : null }, caption),
            element("thead", {}, element("tr", {}, heads)),
            tbody,
        );
        const scroller = element(
            "div",
            { class: "scroller", tabindex: 0, role: "region", "aria-label": `Table: ${caption}` },
            table,
        );
        const pages = pager((step) => ((page += step), render()));
        parent.append(
            ...(filters ? [filters((next) => ((keep = next), choose()))] : []),
            scroller,
            pages.node,
        );

        function sort(index) {
            const direction = sorted.column === index ? -sorted.direction : 1;
            sorted = { column: index, direction };
            const { value } = columns[index];
            order = rows.slice().sort((a, b) => compare(value(a), value(b), direction));
            heads.forEach((th, k) => {
                if (k === index)
                    th.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
                else th.removeAttribute("aria-sort");
            });
            choose();
        }

        function choose() {
            kept = order.filter(keep);
            page = 0;
            render();
        }

        function render() {
            const from = page * PAGE;
            const shown = kept.slice(from, from + PAGE);
            drawn.clear();
            tbody.replaceChildren(...shown.map(draw));
            if (shown.length === 0) {
                const none = element("td", { colspan: columns.length, class: "none" }, "none");
                tbody.append(element("tr", {}, none));
            }
            pages.tell(from, shown.length, kept.length);
            if (marked !== null) mark(marked);
        }

        function draw(row) {
            const cells = columns.map(({ value, cell, isText }) => {
                const content = cell ? cell(row) : text.digits(value(row));
                return element(
                    "td",
                    { class: isText ? "text" : null, dir: isText ? "auto" : null },
                    content,
                );
            });
            const tr = element("tr", { class: onRow ? "pickable" : null }, cells);
            if (onRow) tr.addEventListener("click", () => onRow(row));
            if (rowKey) drawn.set(rowKey(row), tr);
            return tr;
        }

        /** Marks the row of this key, if it is on the page. */
        function mark(key) {
            const change = (tr, is) => {
                if (!tr) return;
                tr.classList.toggle("selected", is);
                tr.querySelector(".pick")?.setAttribute("aria-pressed", String(is));
            };
            change(drawn.get(marked), false);
            marked = key;
            change(drawn.get(key), true);
        }

        render();
        return { mark, table };
    }

    function head({ title, hint, isText }, onclick) {
        const button = element("button", { type: "button", title: hint, onclick }, title);
        return element("th", { scope: "col", class: isText ? "text" : null }, button);
    }

    /** Which rows are shown, and the buttons to the others; hidden where all are. */
    function pager(go) {
        const where = element("span", { role: "status" });
        const back = element("button", { type: "button", onclick: () => go(-1) }, "previous");
        const on = element("button", { type: "button", onclick: () => go(1) }, "next");
        const node = element("div", { class: "pager" }, back, where, on);
        const tell = (from, count, all) => {
            where.textContent = `rows ${text.count(count ? from + 1 : 0)} to ${text.count(from + count)} of ${text.count(all)}`;
            back.disabled = from === 0;
            on.disabled = from + count >= all;
            node.hidden = all <= PAGE && all === count && from === 0;
        };
        return { node, tell };
    }

    return { create };
})();
