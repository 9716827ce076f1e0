// Nothing here is needed to read the report: a filter, sorting, a download, and opening what is linked or printed.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

  const tables = [...document.querySelectorAll("table.overview")];
  if (tables.length) {
    const groups = [...document.querySelectorAll("details.group")];
    const unfolded = new Set(groups.filter((group) => group.open));
    const all = tables.flatMap((table) => [...table.tBodies[0].rows]);
    const input = make("input", { type: "search", id: "filter", placeholder: "name, case or verdict" });
    const nameOf = (row) => row.closest("details.group")?.querySelector("summary").firstChild.textContent ?? "";
    const choice = make("select", { id: "verdict" });
    const shown = make("span", { className: "quiet" });
    shown.setAttribute("role", "status");
    const place = make("div", { className: "filter" });
    const unexpected = "not as expected";
    const wrong = (row) => Boolean(row.querySelector("td strong.wrong"));
    const verdicts = [...new Set(all.map((row) => row.dataset.verdict))].sort();
    const choices = all.some(wrong) ? [...verdicts, unexpected] : verdicts;
    choice.append(make("option", { value: "", textContent: "all" }));
    for (const value of choices) {
      const many = all.filter((row) => (value === unexpected ? wrong(row) : row.dataset.verdict === value)).length;
      choice.append(make("option", { value, textContent: `${value} (${many})` }));
    }
    (groups[0] ?? tables[0]).before(place);
    for (const [control, textContent] of [[input, "Filter"], [choice, "Verdict"]]) {
      const both = make("span", { className: "control" });
      both.append(make("label", { htmlFor: control.id, textContent }), control);
      place.append(both);
    }
    place.append(shown);
    const narrow = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let left = 0;
      for (const row of all) {
        const text = `${nameOf(row)} ${row.textContent}`.toLowerCase();
        const meant = !choice.value || (choice.value === unexpected ? wrong(row) : row.dataset.verdict === choice.value);
        row.hidden = !meant || !words.every((word) => text.includes(word));
        const article = byId(row.dataset.audit + "-article");
        if (article) article.hidden = row.hidden;
        left += row.hidden ? 0 : 1;
      }
      const asked = words.length > 0 || choice.value !== "";
      for (const table of tables) table.hidden = ![...table.tBodies[0].rows].some((row) => !row.hidden);
      for (const group of groups) {
        group.hidden = ![...group.querySelectorAll("table")].some((table) => !table.hidden);
        group.open = asked ? !group.hidden : unfolded.has(group);
      }
      shown.textContent = asked ? `${left} of ${all.length}` : "";
    };
    // What is asked for stands in the address, so that it can be sent, and is there again on the way back.
    const remember = () => {
      narrow();
      const asked = new URLSearchParams(Object.entries({ filter: input.value, verdict: choice.value }).filter(([, v]) => v));
      try { history.replaceState(null, "", asked.size ? `#${asked}` : location.pathname + location.search); } catch { /* a page that may not */ }
    };
    const recall = () => {
      if (!/^#(filter|verdict)=/.test(location.hash)) return;
      const asked = new URLSearchParams(location.hash.slice(1));
      input.value = asked.get("filter") ?? "";
      choice.value = choices.includes(asked.get("verdict")) ? asked.get("verdict") : "";
      narrow();
    };
    input.addEventListener("input", remember);
    choice.addEventListener("change", remember);
    addEventListener("hashchange", recall);
    recall();

    const key = (row, column) => {
      const cell = row.cells[column];
      return "sort" in cell.dataset ? Number(cell.dataset.sort) : cell.textContent.trim().toLowerCase();
    };
    for (const table of tables) [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const body = table.tBodies[0];
      const rows = [...body.rows];
      const button = make("button", { type: "button", textContent: heading.textContent });
      heading.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = heading.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", down ? "descending" : "ascending");
        const sorted = [...rows].sort((a, b) => {
          const [x, y] = [key(a, column), key(b, column)];
          return (x > y) - (x < y);
        });
        body.append(...(down ? sorted.reverse() : sorted));
      });
    });
  }

  const open = () => {
    const target = location.hash.length > 1 && byId(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.closest("details")) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    (target.closest("details.fold") ?? target).scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();

  addEventListener("beforeprint", () => document.querySelectorAll("details:not(.data)").forEach((d) => { d.open = true; }));

  // The data are packed: a browser that cannot unpack them leaves the link to the packed file.
  const packed = byId("dpaudit-result");
  if (!packed || !("DecompressionStream" in window)) return; // an index has its data beside it
  const unpacked = async () => {
    const bytes = Uint8Array.from(atob(packed.href.split(",")[1]), (char) => char.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const save = (text, type, name) => {
    const url = URL.createObjectURL(new Blob([text], { type }));
    make("a", { href: url, download: name }).click();
    URL.revokeObjectURL(url);
  };

  // Many audits hold their plots' data in the JSON alone: a link to it becomes one to a table.
  const cell = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const articles = [...document.querySelectorAll("article.audit")];
  for (const link of document.querySelectorAll("a[data-plot]")) {
    link.textContent = "Data (CSV)";
    link.addEventListener("click", async (event) => {
      event.preventDefault();
      const article = link.closest("article");
      const plot = JSON.parse(await unpacked()).audits[articles.indexOf(article)][link.dataset.plot];
      const columns = Object.entries(plot).filter(([, values]) => Array.isArray(values));
      const rows = [columns.map(([name]) => name), ...columns[0][1].map((_, i) => columns.map(([, values]) => values[i]))];
      const text = rows.map((row) => row.map((value) => cell(String(value))).join(",") + "\n").join("");
      const name = link.dataset.plot.replace("output_plot", "outputs").replace("_plot", "");
      const stem = article.querySelector("h2").textContent.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
      save(text, "text/csv", `${stem || "audit"}-${name}.csv`);
    });
  }

  const download = make("button", { type: "button", className: "plain", textContent: "Download the JSON" });
  download.addEventListener("click", async () => {
    save(JSON.stringify(JSON.parse(await unpacked()), null, 2) + "\n", "application/json", "dpaudit-result.json");
  });
  const shown = make("details", { className: "data" });
  const text = make("pre", { tabIndex: 0 });
  text.setAttribute("role", "group");
  text.setAttribute("aria-label", "The result as JSON");
  shown.append(make("summary", { textContent: "Show the JSON" }), text);
  shown.addEventListener("toggle", async () => { text.textContent ||= JSON.stringify(JSON.parse(await unpacked()), null, 1); });
  byId("download").append(" ", download);
  byId("download").after(shown);
})();
