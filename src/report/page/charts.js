// Pictures that answer to pointer, touch and keyboard, and show what is selected.
const charts = (() => {
    const { element, svg } = text;
    const all = [];
    const f = (number) => number.toFixed(1);

    /** The spots that a picture came with: what of each configuration is drawn where, and other words. */
    function spotsOf(picture) {
        const { spots } = picture.dataset;
        return (spots ? spots.split(";") : []).map((spot) => {
            const [place, words] = spot.split("|");
            const [x, y, width, height] = place.split(" ").map(Number);
            const [, m, p] = words.match(/^\((\d+), (\d+)\)$/) ?? [];
            const index = study.places.get(`${m},${p}`) ?? null;
            const tip = () => (index === null ? [words] : study.describe(index));
            if (width === undefined) return { x, y, index, tip };
            return { x: x + width / 2, y: y + height / 2, box: { x, y, width, height }, index, tip };
        });
    }

    /** Lets a picture answer: a figure with a heading, and an SVG on a stage. */
    function attach(figure) {
        const stage = figure.querySelector(".stage");
        const picture = stage.querySelector("svg");
        const over = svg("g", { class: "over" });
        const title = figure.querySelector("h3").textContent;
        const chart = { title, stage, picture, over };
        picture.append(over);
        listen(chart);
        all.push(chart);
        update(chart, spotsOf(picture));
        return chart;
    }

    /** Gives a chart other hits [{x, y, box, index, tip()}]; `index` is a configuration or null. */
    function update(chart, hits) {
        chart.picture.append(chart.over);
        chart.hits = hits;
        chart.at = -1;
        chart.of = new Map();
        hits.forEach((hit, k) => {
            if (hit.index === null) return;
            if (!chart.of.has(hit.index)) chart.of.set(hit.index, []);
            chart.of.get(hit.index).push(k);
        });
        mark(chart, selected);
    }

    let selected = null;

    /** Marks a configuration in every picture that shows it. */
    function select(index) {
        selected = index;
        for (const chart of all) mark(chart, index);
    }

    function mark(chart, index) {
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
        const ratio = frame.width / chart.picture.viewBox.baseVal.width;
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
            const ratio = picture.viewBox.baseVal.width / frame.width;
            return nearest(
                chart,
                (event.clientX - frame.left) * ratio,
                (event.clientY - frame.top) * ratio,
                reach,
            );
        };
        const pick = (k) => {
            if (k >= 0 && chart.hits[k].index !== null) study.select(chart.hits[k].index);
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

    return { attach, update, select, hitsOf, tip, spoken };
})();
