// A click on the head of a column sorts the rows of its table: numbers by their size, words by the alphabet, what there
// is not last.
for (const table of document.querySelectorAll("table.data")) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    const value = (row, column) => {
        const text = row.cells[column].textContent;
        const number = Number.parseFloat(text);
        return Number.isNaN(number) ? text : number;
    };
    const isAbsent = (it) => it === "" || it === "–";
    const compare = (a, b) => {
        if (isAbsent(a) || isAbsent(b)) return 0;
        if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b);
        return typeof a === "number" ? -1 : 1;
    };
    heads.forEach((head, column) => {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "sort";
        button.append(...head.childNodes);
        head.append(button);
        button.addEventListener("click", () => {
            const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
            for (const other of heads) other.removeAttribute("aria-sort");
            head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
            const sorted = rows.slice().sort((one, other) => {
                const [a, b] = [value(one, column), value(other, column)];
                return isAbsent(a) - isAbsent(b) || direction * compare(a, b);
            });
            body.append(...sorted);
        });
    });
}
