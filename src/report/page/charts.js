// A chart: a picture that is drawn at the width at hand, whose points answer to pointer, touch and
// keyboard, and which shows what is selected. Drawing is up to the plots; here is what all share.
const charts = (() => {
    const { element, svg } = text;
    const all = [];

    /** The mark of a series around (x, y), as a piece of a path; one path holds thousands. */
    const marks = {
        circle: (x, y, r) =>
            `M${f(x - r)},${f(y)}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
        diamond: (x, y, r) => `M${f(x)},${f(y - r)}l${r},${r}l${-r},${r}l${-r},${-r}z`,
        square: (x, y, r) => `M${f(x - r)},${f(y - r)}h${2 * r}v${2 * r}h${-2 * r}z`,
        triangle: (x, y, r) => `M${f(x)},${f(y - r)}l${r},${f(1.8 * r)}h${-2 * r}z`,
        cross: (x, y, r) =>
            `M${f(x - r)},${f(y - r)}l${2 * r},${2 * r}m0,${-2 * r}l${-2 * r},${2 * r}`,
    };
    const f = (number) => number.toFixed(1);

    /** One path with a mark at every point. */
    const points = (series, mark, places, r = 3.5) =>
        svg("path", {
            class: `mark ${series}`,
            d: places.map(([x, y]) => marks[mark](x, y, r)).join(""),
        });

    /** A line through points; one that is null breaks it. */
    function line(series, places) {
        let d = "";
        let joins = false;
        for (const place of places) {
            if (place) d += `${joins ? "L" : "M"}${f(place[0])},${f(place[1])}`;
            joins = Boolean(place);
        }
        return svg("path", { class: `line ${series}`, d });
    }

    /** Whiskers from low to high at x. */
    const whiskers = (series, places) =>
        svg("path", {
            class: `whisker ${series}`,
            d: places
                .map(
                    ([x, low, high]) =>
                        `M${f(x)},${f(low)}V${f(high)}m-3,0h6M${f(x - 3)},${f(low)}h6`,
                )
                .join(""),
        });

    /** What a mark means, drawn small beside its name. */
    function legend(entries) {
        const swatch = ({ series, mark, isLine, isArea }) => {
            const picture = svg("svg", { width: 24, height: 14, "aria-hidden": "true" });
            if (isArea)
                picture.append(svg("rect", { class: series, x: 2, y: 1, width: 20, height: 12 }));
            if (isLine) picture.append(svg("path", { class: `line ${series}`, d: "M1,7H23" }));
            if (mark)
                picture.append(svg("path", { class: `mark ${series}`, d: marks[mark](12, 7, 4) }));
            return picture;
        };
        return element(
            "ul",
            { class: "legend" },
            entries.map((entry) => element("li", {}, swatch(entry), entry.name)),
        );
    }

    let counter = 0;

    /**
     * A chart in `parent`. `draw(canvas)` fills `canvas.layer` for `canvas.width`, on paper where
     * `canvas.isPrinted`, and returns its `height` and the `hits` [{x, y, index, tip()}] that answer; `index` is a configuration or null.
     */
    function create(
        parent,
        { title, description, caption, controls, legend: entries, isWide, draw, onPick },
    ) {
        counter += 1;
        const id = `chart-${counter}`;
        const picture = svg("svg", { role: "img", "aria-labelledby": `${id}-title ${id}-desc` });
        const stage = element(
            "div",
            {
                class: "stage",
                tabindex: 0,
                role: "group",
                "aria-label": `${title}. Arrow keys step through its points${onPick ? ", Enter selects" : ""}.`,
            },
            picture,
        );
        const heading = element("h3", { id: `${id}-heading`, dir: "auto" }, title);
        const figure = element(
            "figure",
            { class: isWide ? "chart wide" : "chart", "aria-labelledby": `${id}-heading` },
            heading,
            controls ? element("div", { class: "controls" }, controls) : null,
            entries ? legend(entries) : null,
            stage,
            caption ? element("figcaption", {}, caption) : null,
        );
        parent.append(figure);
        const state = { hits: [], of: new Map(), at: -1, width: 0 };
        const chart = { title, stage, picture, isWide, onPick, ...state };
        chart.redraw = (width = Math.floor(stage.clientWidth)) => {
            if (width < 40) return;
            chart.width = width;
            const layer = svg("g");
            const over = svg("g", { class: "over" });
            const { height, hits } = draw({ layer, width, isPrinted: isPrinting });
            picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
            const head = [
                svg("title", { id: `${id}-title` }, title),
                svg("desc", { id: `${id}-desc` }, description),
            ];
            picture.replaceChildren(...head, layer, over);
            chart.over = over;
            chart.hits = hits;
            chart.at = -1;
            chart.of = new Map();
            hits.forEach((hit, k) => {
                if (hit.index === null) return;
                if (!chart.of.has(hit.index)) chart.of.set(hit.index, []);
                chart.of.get(hit.index).push(k);
            });
            mark(chart, selected);
        };
        listen(chart);
        all.push(chart);
        observer.observe(stage);
        return chart;
    }

    // A chart is drawn as soon as its width is known, and again when that changes.
    const observer = new ResizeObserver((entries) => {
        for (const { target } of entries) {
            const chart = all.find(({ stage }) => stage === target);
            if (Math.floor(target.clientWidth) !== chart.width && !isPrinting) chart.redraw();
        }
    });

    let isPrinting = false;
    // Paper has a width of its own, which no observer is told in time: that of the page, or of one
    // of two columns.
    const PAPER = { page: 700, column: 340 };
    window.addEventListener("beforeprint", () => {
        isPrinting = true;
        for (const chart of all) chart.redraw(chart.isWide ? PAPER.page : PAPER.column);
    });
    window.addEventListener("afterprint", () => {
        isPrinting = false;
        for (const chart of all) chart.redraw();
    });

    let selected = null;

    /** Marks a configuration in every chart that shows it; nothing else is drawn again. */
    function select(index) {
        selected = index;
        for (const chart of all) mark(chart, index);
    }

    function mark(chart, index) {
        if (!chart.over) return;
        const rings = (chart.of.get(index) ?? []).map((k) => ring(chart.hits[k], "selected"));
        chart.over.replaceChildren(...rings);
    }

    function ring(hit, kind) {
        if (hit.box && Math.min(hit.box.width, hit.box.height) >= 8) {
            const { x, y, width, height } = hit.box;
            return svg("rect", { class: kind, x, y, width, height });
        }
        return svg("circle", { class: kind, cx: f(hit.x), cy: f(hit.y), r: 8 });
    }

    /** The point nearest to a place, if one is within reach. */
    function nearest({ hits }, x, y, reach) {
        let [best, least] = [-1, reach * reach];
        for (let k = 0; k < hits.length; k += 1) {
            const { box } = hits[k];
            const dx = box ? Math.max(box.x - x, 0, x - box.x - box.width) : hits[k].x - x;
            const dy = box ? Math.max(box.y - y, 0, y - box.y - box.height) : hits[k].y - y;
            const distance = dx * dx + dy * dy;
            if (distance < least) [best, least] = [k, distance];
        }
        return best;
    }

    const tip = element("div", { id: "tip", role: "presentation", hidden: true });
    const spoken = element("div", { class: "unseen", "aria-live": "polite", id: "spoken" });

    function show(chart, k, isSpoken) {
        if (k === chart.at && !tip.hidden) return;
        chart.at = k;
        chart.over.querySelectorAll(".pointed").forEach((node) => node.remove());
        if (k < 0) {
            tip.hidden = true;
            return;
        }
        const hit = chart.hits[k];
        chart.over.append(ring(hit, "pointed"));
        const lines = hit.tip();
        tip.replaceChildren(...lines.map((content) => element("div", { dir: "auto" }, content)));
        if (isSpoken) spoken.textContent = lines.join(", ");
        tip.hidden = false;
        place(chart, hit);
    }

    /** Beside its point, within the window. */
    function place(chart, hit) {
        const frame = chart.picture.getBoundingClientRect();
        const ratio = frame.width / chart.width;
        const [x, y] = [frame.left + hit.x * ratio, frame.top + hit.y * ratio];
        const { width, height } = tip.getBoundingClientRect();
        const fits = x + 14 + width < document.documentElement.clientWidth - 4;
        const left = Math.max(fits ? x + 14 : x - width - 14, 4);
        const top = Math.min(Math.max(y - height / 2, 4), window.innerHeight - height - 4);
        tip.style.left = `${left + window.scrollX}px`;
        tip.style.top = `${top + window.scrollY}px`;
    }

    function listen(chart) {
        const { stage, picture } = chart;
        const under = (event, reach) => {
            const frame = picture.getBoundingClientRect();
            const ratio = chart.width / frame.width;
            return nearest(
                chart,
                (event.clientX - frame.left) * ratio,
                (event.clientY - frame.top) * ratio,
                reach,
            );
        };
        const pick = (k) => {
            if (k >= 0 && chart.onPick && chart.hits[k].index !== null)
                chart.onPick(chart.hits[k].index);
        };
        picture.addEventListener("pointermove", (event) => show(chart, under(event, 28), false));
        picture.addEventListener("pointerleave", () => show(chart, -1, false));
        picture.addEventListener("click", (event) => {
            const k = under(event, event.pointerType === "touch" ? 40 : 28);
            pick(k);
            show(chart, k, false);
        });
        stage.addEventListener("blur", () => show(chart, -1, false));
        stage.addEventListener("keydown", (event) => {
            if (event.key === "Enter" || event.key === " ") {
                pick(chart.at);
                event.preventDefault();
            } else if (event.key === "Escape") {
                show(chart, -1, false);
            } else if (
                event.key.startsWith("Arrow") ||
                event.key === "Home" ||
                event.key === "End"
            ) {
                show(chart, step(chart, event.key), true);
                event.preventDefault();
            }
        });
    }

    /** The point that an arrow key leads to: the nearest on that side, along the arrow first. */
    function step(chart, key) {
        const { hits } = chart;
        if (hits.length === 0) return -1;
        const start = (chart.of.get(selected) ?? [0])[0];
        if (chart.at < 0 && key.startsWith("Arrow")) return start;
        const byX = (sign) =>
            hits.reduce((best, hit, k) => (sign * (hit.x - hits[best].x) > 0 ? k : best), 0);
        if (key === "Home") return byX(-1);
        if (key === "End") return byX(1);
        const from = hits[chart.at];
        const [along, sign] = {
            ArrowRight: ["x", 1],
            ArrowLeft: ["x", -1],
            ArrowDown: ["y", 1],
            ArrowUp: ["y", -1],
        }[key];
        const across = along === "x" ? "y" : "x";
        let [best, least] = [chart.at, Infinity];
        hits.forEach((hit, k) => {
            const ahead = sign * (hit[along] - from[along]);
            if (ahead < 0.05) return;
            const distance = ahead + 0.5 * Math.abs(hit[across] - from[across]);
            if (distance < least) [best, least] = [k, distance];
        });
        return best;
    }

    /** What a chart answers at, in its own pixels. */
    const hitsOf = (title) => all.find((chart) => chart.title === title).hits;

    return { create, select, hitsOf, legend, points, line, whiskers, marks, tip, spoken };
})();
