// On a phone, on paper, in the dark, and by a screen reader.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

import { at, browser, open } from "./fixtures.mjs";

const shared = browser();
const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

/** Contrast of two colours given as [r, g, b] of 0 to 255, by WCAG 2. */
function contrast(one, other) {
    const light = (colour) => {
        const [r, g, b] = colour
            .map((each) => each / 255)
            .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
}

const numbers = (colour) =>
    colour
        .match(/[\d.]+/g)
        .slice(0, 3)
        .map(Number);

for (const [name, colorScheme] of [
    ["study", "light"],
    ["study", "dark"],
    ["tasks", "light"],
]) {
    test(`${name}: an audit finds no violation, ${colorScheme}`, async () => {
        const { page, context } = await open(shared, `${name}.html`, { colorScheme });
        await page
            .locator("details")
            .evaluateAll((all) => all.forEach((each) => (each.open = true)));
        await page.evaluate(AXE);
        const { violations, passes } = await page.evaluate(() => axe.run());
        const first = (nodes) =>
            nodes
                .slice(0, 3)
                .map(({ html }) => html)
                .join(" ");
        assert.deepEqual(
            violations.map(({ id, nodes }) => `${id}: ${first(nodes)}`),
            [],
        );
        assert.ok(passes.length > 20);
        await context.close();
    });
}

for (const name of ["study", "many", "tasks", "published"]) {
    test(`${name}: a phone scrolls up and down only`, async () => {
        const { page, context, complaints } = await open(shared, `${name}.html`, PHONE);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
        const beyond = await page.locator("body *").evaluateAll((nodes) =>
            nodes
                .filter(
                    (node) =>
                        !node.closest(".scroller, .unseen, .skip, #tip") &&
                        node.getClientRects().length,
                )
                .filter((node) => !node.closest("svg") || node.tagName === "svg")
                .filter((node) => node.getBoundingClientRect().right > 361)
                .map((node) => `${node.tagName}.${node.className}`),
        );
        assert.deepEqual(beyond, []);
        assert.deepEqual(complaints, []);
        await context.close();
    });
}

test("a touch on a phone selects, and leads to the breakdown", async () => {
    const { page, context } = await open(shared, "study.html", PHONE);
    const stage = page.locator("figure", { hasText: "Map of all" }).locator(".stage > svg");
    await stage.scrollIntoViewIfNeeded();
    const box = await stage.boundingBox();
    await page.touchscreen.tap(box.x + 60, box.y + box.height - 60);
    const title = await page.locator("#selection-title").innerText();
    assert.match(title, /^m = \d+, p = \d+$/);
    await page.locator("#tip").waitFor({ state: "visible" });
    await page.locator("#selection-bar").tap();
    await page.waitForFunction(
        () => Math.abs(document.getElementById("selection").getBoundingClientRect().top) < 120,
    );
    await context.close();
});

test("labels of axes neither overlap nor leave their picture, wide and narrow", async () => {
    for (const name of ["study", "many"]) {
        for (const width of [1280, 360]) {
            const { page, context } = await open(shared, `${name}.html`, {
                viewport: { width, height: 900 },
            });
            const bad = await page.evaluate(() =>
                [...document.querySelectorAll(".stage > svg")].flatMap((svg) => {
                    const frame = svg.getBoundingClientRect();
                    const labels = [...svg.querySelectorAll(".ticks text, .axis-titles text")].map(
                        (node) => ({ text: node.textContent, box: node.getBoundingClientRect() }),
                    );
                    const out = labels.filter(
                        ({ box }) =>
                            box.left < frame.left - 1 ||
                            box.right > frame.right + 1 ||
                            box.top < frame.top - 2 ||
                            box.bottom > frame.bottom + 1,
                    );
                    const isOver = (a, b) =>
                        a.left < b.right - 1 &&
                        b.left < a.right - 1 &&
                        a.top < b.bottom - 4 &&
                        b.top < a.bottom - 4;
                    const over = labels.filter((one, k) =>
                        labels.slice(k + 1).some((other) => isOver(one.box, other.box)),
                    );
                    const title = svg.querySelector("title").textContent;
                    return [
                        ...out.map(({ text }) => `${title}: "${text}" outside`),
                        ...over.map(({ text }) => `${title}: "${text}" overlaps`),
                    ];
                }),
            );
            assert.deepEqual(bad, [], `${name} at ${width}`);
            await context.close();
        }
    }
});

test("in the dark the page is dark, and the button turns it light and back", async () => {
    const { page, context } = await open(shared, "study.html", { colorScheme: "dark" });
    const colours = () =>
        page.evaluate(() => {
            const { backgroundColor, color } = getComputedStyle(document.body);
            return [backgroundColor, color];
        });
    const [paper, ink] = (await colours()).map(numbers);
    assert.ok(Math.max(...paper) < 60, `${paper}`);
    assert.ok(contrast(paper, ink) > 7);
    await page.getByRole("button", { name: "Light colours" }).click();
    const [light] = (await colours()).map(numbers);
    assert.ok(Math.min(...light) > 200, `${light}`);
    await page.getByRole("button", { name: "Dark colours" }).click();
    assert.deepEqual((await colours()).map(numbers)[0], paper);
    await context.close();
});

test("series stand out from the paper, light and dark", async () => {
    for (const colorScheme of ["light", "dark"]) {
        const { page, context } = await open(shared, "study.html", { colorScheme });
        const paper = numbers(
            await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
        );
        const colours = {
            "what if": [".legend .equation-11", "color"],
            "what if, refined": [".legend .refined", "color"],
            "equation 11": ['#plots [stroke="#0072b2"]', "stroke"],
            refined: ['#plots [stroke="#009e73"]', "stroke"],
            measured: ['#plots [fill="#d55e00"]', "fill"],
        };
        for (const [series, [selector, property]] of Object.entries(colours)) {
            const node = page.locator(selector).first();
            const style = await node.evaluate((it, name) => getComputedStyle(it)[name], property);
            const ratio = contrast(paper, numbers(style));
            assert.ok(ratio >= 3, `${series}, ${colorScheme}: ${ratio}`);
        }
        await context.close();
    }
});

test("on paper there are no controls, colours are light, and no plot is cut", async () => {
    const { page, context } = await open(shared, "study.html", { colorScheme: "dark" });
    await page.emulateMedia({ media: "print" });
    const controls = await page
        .locator("button:visible, input:visible, select:visible")
        .evaluateAll((nodes) =>
            // The heads of tables and the ranks in them are buttons, and stay as text.
            nodes.filter((node) => !node.closest("table")).map((node) => node.outerHTML),
        );
    assert.deepEqual(controls, []);
    const paper = numbers(
        await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
    );
    assert.ok(Math.min(...paper) > 200, `${paper}`);
    const breaks = await page
        .locator("figure.chart")
        .evaluateAll((all) => all.map((each) => getComputedStyle(each).breakInside));
    assert.ok(breaks.every((each) => each === "avoid"));
    const pdf = await page.pdf({
        path: at("study.pdf"),
        preferCSSPageSize: true,
        printBackground: true,
    });
    assert.ok(pdf.length > 20_000);
    const cut = await page
        .locator("figure.chart .stage:visible")
        .evaluateAll((all) => all.filter((stage) => stage.scrollWidth > stage.clientWidth + 1).length);
    assert.equal(cut, 0);
    await page.emulateMedia({ media: null });
    const text = readable(at("study.pdf"));
    if (text !== null) {
        assert.match(text, /All configurations/);
        assert.doesNotMatch(text, /Reset to the values|Dark colours|Light colours|only m =/);
    }
    await context.close();
});

/** The text of a PDF, where there is a program that reads it. */
function readable(file) {
    try {
        return execFileSync("pdftotext", [file, "-"], { encoding: "utf8" });
    } catch {
        return null;
    }
}

test("who wants no motion gets none", async () => {
    const { page, context } = await open(shared, "study.html", { reducedMotion: "reduce" });
    assert.equal(
        await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior),
        "auto",
    );
    await context.close();
});
