// The page of a search: pictures that answer in the user's words, tables that sort.
import assert from "node:assert/strict";
import { test } from "node:test";

import { browser, open } from "./fixtures.mjs";

const shared = browser();

test("a search: its cells tell what is expected, measured, or why it failed", async () => {
    const { page, complaints, context } = await open(shared, "search.html", { isAwaited: false });
    const told = await page.evaluate(() =>
        [...document.querySelectorAll("figure.chart h3")].flatMap(({ textContent }) =>
            charts.hitsOf(textContent).map((hit) => hit.tip().join(" ")),
        ),
    );
    assert.ok(told.some((words) => /^ranks: 1, threads: 4 expected .* measured/.test(words)), told.join("\n"));
    assert.ok(told.some((words) => words.startsWith("(4, 4): failed")), told.join("\n"));
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.deepEqual(complaints, []);
    await context.close();
});

test("a search: a click on a head sorts, numbers by their size and absent ones last", async () => {
    const { page, context } = await open(shared, "search.html", { isAwaited: false });
    const table = page.locator("table.data").last();
    const head = table.locator("th", { hasText: "time" });
    const column = await head.evaluate((th) => th.cellIndex);
    const cells = () =>
        table.locator("tbody tr").evaluateAll((rows, column) => rows.map((row) => row.cells[column].textContent), column);
    for (const direction of [1, -1]) {
        await head.locator("button").click();
        const found = await cells();
        const numbers = found.filter((text) => text !== "–").map(Number);
        assert.deepEqual(numbers, numbers.slice().sort((a, b) => direction * (a - b)));
        assert.ok(found.slice(numbers.length).every((text) => text === "–"), found.join(" "));
    }
    await context.close();
});
