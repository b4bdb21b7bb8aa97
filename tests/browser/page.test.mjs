// The page as it is opened: nothing to complain of, the answer, the tables, the pictures.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";

import { at, browser, difference, open, placeOf } from "./fixtures.mjs";

const shared = browser();
const PAGES = ["study", "published", "tasks", "many", "hostile", "constants", "refined-tasks", "runs"];

/** The first row of a CSV file as {column: text}. */
function firstRow(file) {
    const [header, row] = fs
        .readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => !line.startsWith("#"));
    const values = row.split(",");
    return Object.fromEntries(header.split(",").map((name, k) => [name, values[k]]));
}

for (const name of PAGES) {
    test(`${name}: opens without a complaint and without a request besides itself`, async () => {
        const { page, complaints, context } = await open(shared, `${name}.html`);
        await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
        await page.waitForTimeout(50);
        assert.deepEqual(complaints, []);
        await context.close();
    });
}

test("the answer is the first row of predictions.csv", async () => {
    const { page, context } = await open(shared, "study.html");
    const { m, p, time_s } = firstRow(at("study/predictions.csv"));
    const answer = await page.locator("#answer").innerText();
    assert.ok(answer.includes(`(m, p) = (${m}, ${p})`), answer);
    const first = await page.evaluate(() => study.configurations.time_s[0]);
    assert.ok(difference(first, Number(time_s)) <= 1e-12, `${first}, ${time_s}`);
    assert.ok((await page.locator("#selection").innerText()).includes(`m = ${m}, p = ${p}`));
    await context.close();
});

test("without scripts the answer and the pictures are there, and a word on what is not", async () => {
    const { page, context } = await open(shared, "study.html", { javaScriptEnabled: false });
    const { m, p } = firstRow(at("study/predictions.csv"));
    assert.ok((await page.locator("#answer").innerText()).includes(`(m, p) = (${m}, ${p})`));
    assert.ok((await page.locator("main").innerText()).includes("switched off"));
    const visible = await page.locator("section:visible").evaluateAll((all) => all.map(({ id }) => id));
    assert.deepEqual(visible, ["answer", "plots", "benchmarks"]);
    assert.ok((await page.locator("figure.static svg:visible").count()) >= 9);
    await context.close();
});

test("every column of every table sorts both ways, numbers as numbers", async () => {
    const { page, context } = await open(shared, "study.html");
    const found = await page.evaluate(() =>
        [...document.querySelectorAll("table.data:has(th button)")].flatMap((table) => {
            const rows = () => [...table.tBodies[0].rows].map((row) => row.textContent);
            const given = rows();
            return [...table.tHead.rows[0].cells].map((th, column) => {
                const keys = () =>
                    [...table.tBodies[0].rows].map((row) => row.cells[column].textContent);
                th.querySelector("button").click();
                const [up, upKeys, first] = [rows(), keys(), th.getAttribute("aria-sort")];
                th.querySelector("button").click();
                const [down, second] = [rows(), th.getAttribute("aria-sort")];
                return { column: th.textContent, given, up, upKeys, down, first, second };
            });
        }),
    );
    assert.ok(found.length > 30, `${found.length} columns`);
    for (const { column, given, up, upKeys, down, first, second } of found) {
        assert.deepEqual([first, second], ["ascending", "descending"], column);
        assert.deepEqual(up.slice().sort(), given.slice().sort(), column);
        assert.deepEqual(down.slice().sort(), given.slice().sort(), column);
        // Plain numbers, and what is missing at the end either way.
        const plain = upKeys.filter((key) => /^[\u2212\d.,]+$/.test(key));
        if (plain.length === upKeys.length) {
            const numbers = plain.map((key) =>
                Number(key.replace("\u2212", "-").replaceAll(",", "")),
            );
            assert.deepEqual(
                numbers,
                numbers.slice().sort((a, b) => a - b),
                column,
            );
        }
    }
    await context.close();
});

test("a table of thousands is shown in pages and kept to one m or p by its fields", async () => {
    const { page, context } = await open(shared, "many.html");
    const section = page.locator("#configurations");
    const size = await page.evaluate(() => study.size);
    assert.ok(size > 4800, `${size} configurations`);
    assert.equal(await section.locator("tbody tr").count(), 50);
    await section.getByRole("button", { name: "next" }).click();
    assert.equal(await section.locator("tbody tr").first().locator("td").first().innerText(), "51");
    await section.getByLabel("only m =").fill("700");
    assert.equal(await section.locator("tbody tr").count(), 1);
    assert.deepEqual((await section.locator("tbody td").allInnerTexts()).slice(1, 3), ["700", "1"]);
    await context.close();
});

test("hovering shows the values of the nearest point, in every kind of plot", async () => {
    const { page, context } = await open(shared, "study.html");
    for (const title of [
        "Time of every configuration",
        "Parity",
        "Residuals",
        "Map of all",
        "Where the time",
    ]) {
        const whole = await page.locator("figure h3", { hasText: title }).innerText();
        // The fastest, which every picture shows.
        const best = await page.evaluate(() => [
            study.configurations.m[0],
            study.configurations.p[0],
        ]);
        const { x, y } = await placeOf(page, whole, best);
        await page.mouse.move(x, y);
        const tip = page.locator("#tip");
        await tip.waitFor({ state: "visible" });
        const shown = await tip.innerText();
        // Points may lie on each other: what is shown is one of the study, in full.
        assert.match(shown, /^\(\d+,\s\d+\)/, `${whole}: ${shown}`);
        assert.match(shown, /\d\s[mµn]?s/, `${whole}: ${shown}`);
        await page.mouse.move(2, 2);
        await tip.waitFor({ state: "hidden" });
    }
    await context.close();
});

test("micro-benchmarks are drawn with their fits, and answer", async () => {
    const { page, context } = await open(shared, "study.html");
    const drawn = page.locator("#benchmarks figure");
    const words = await drawn.locator("svg").first().textContent();
    for (const panel of ["alpha", "O_offload", "T_CSW", "O_COL", "Bandwidth"])
        assert.ok(words.includes(panel), `${panel} in ${words}`);
    assert.ok((await drawn.locator('svg [fill="#d55e00"] circle').count()) > 20);
    const stage = drawn.locator(".stage");
    await stage.focus();
    await page.keyboard.press("ArrowRight");
    assert.match(await page.locator("#tip").innerText(), /: .* at /);
    await context.close();
});

test("every parameter with a standard error has its 95 % interval, by the degrees of freedom it has", async () => {
    const { page, context } = await open(shared, "study.html");
    const { terms } = await page.evaluate(() => study.data.parameters);
    const text = await page.locator("#parameters tr", { hasText: "T_HPU" }).first().innerText();
    // 97.5 % of Student's t with two degrees of freedom, from any table of it.
    assert.equal(terms.t_hpu_s.degrees_of_freedom, 2);
    const half = 4.3026527299 * terms.t_hpu_s.std_error;
    assert.ok(difference(terms.t_hpu_s.high - terms.t_hpu_s.value, half) < 1e-8);
    const written = await page.evaluate((half) => text.seconds(half), half);
    assert.ok(text.includes(`±\u00a0${written}`), text);
    await context.close();
});

test("on paper a study of 16 APUs takes eight pages at most", async () => {
    const { page, context } = await open(shared, "study.html");
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
    const pages = pdf.match(/\/Type\s*\/Page\b/g).length;
    assert.ok(pages <= 8, `${pages} pages`);
    await context.close();
});

test("a picture that is shown as it is takes the colours of the page", async () => {
    for (const colorScheme of ["light", "dark"]) {
        const { page, context } = await open(shared, "study.html", { colorScheme });
        const found = await page.evaluate(() => {
            const figure = document.querySelector("figure.static svg");
            const fill = (node) => getComputedStyle(node).fill;
            return {
                ground: fill(figure.querySelector("rect")),
                ink: fill(figure.querySelector("text")),
                page: getComputedStyle(document.body).backgroundColor,
                text: getComputedStyle(document.body).color,
            };
        });
        assert.equal(found.ground, found.page, colorScheme);
        assert.equal(found.ink, found.text, colorScheme);
        await context.close();
    }
});
