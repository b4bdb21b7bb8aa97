// Names are text, whatever they hold.
import assert from "node:assert/strict";
import { test } from "node:test";

import { HOSTILE, LONG, REVERSED, browser, open } from "./fixtures.mjs";

const shared = browser();

test("a name that is a script is shown and not run", async () => {
    const { page, context, complaints } = await open(shared, "hostile.html", { isAwaited: false });
    await page.waitForTimeout(500);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    // The data and the page's own script.
    assert.equal(await page.locator("script").count(), 2);
    assert.equal(await page.locator("img, iframe, object, embed, link").count(), 0);
    assert.deepEqual(complaints, []);
    assert.ok((await page.title()).includes("<script>window.hacked=1</script>"));
    assert.ok((await page.locator("#answer").innerText()).includes(HOSTILE));
    const sections = { "#parameters": 3, "#warnings": 1, "#provenance": 5 };
    for (const [section, least] of Object.entries(sections)) {
        const texts = (await page.locator(section).innerText()).split(HOSTILE).length - 1;
        assert.ok(texts >= least, `${section}: ${texts} times`);
    }
    await context.close();
});

test("a name written from right to left turns nothing around it", async () => {
    const { page, context } = await open(shared, "hostile.html");
    const cells = page.locator("#parameters bdi", { hasText: REVERSED });
    assert.ok((await cells.count()) >= 2);
    for (const cell of await cells.all()) {
        assert.equal(await cell.evaluate((node) => getComputedStyle(node).unicodeBidi), "isolate");
    }
    await context.close();
});

for (const [what, width] of [
    ["a desk", 1280],
    ["a phone", 360],
]) {
    test(`3,000 letters without a blank wrap on ${what}`, async () => {
        const viewport = { width, height: 740 };
        const { page, context } = await open(shared, "hostile.html", { viewport });
        assert.ok((await page.locator("#parameters").innerText()).includes(LONG));
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        const widest = await page
            .locator("bdi")
            .evaluateAll((names) =>
                Math.max(...names.map((name) => name.getBoundingClientRect().width)),
            );
        assert.ok(widest <= width, `${widest}`);
        await context.close();
    });
}
