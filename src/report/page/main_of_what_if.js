// A page of words, tables and pictures that stand as they are, and of what-if.
document.body.append(charts.tip, charts.spoken);
for (const section of document.querySelectorAll("[data-scripted]")) section.hidden = false;
for (const figure of document.querySelectorAll("figure.chart")) charts.attach(figure);
whatIfSection.draw(document.querySelector("#what-if .body"));
charts.spoken.textContent = "";
