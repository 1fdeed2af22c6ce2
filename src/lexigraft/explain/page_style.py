"""How explanation pages look: one style sheet, for light and dark."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c1b1a; --dim: #6b6760; --paper: #fdfcfa; --line: #dcd8d0;
        --own: #2f6f9f; --added: #b3541e; --mark: 214, 140, 20; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e5e0; --dim: #9a958c; --paper: #181716; --line: #3a3733; --own: #6fb1e0; --added: #e39a68;
          --mark: 230, 165, 60; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
       max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; }
figure { margin: 1rem 0; }
p.note, figcaption, .legend { color: var(--dim); font-size: .9rem; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: 2rem; }
.sides > section { min-width: 0; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid var(--line); padding-left: .8rem;
        max-height: 24rem; overflow-y: auto; }
mark { color: inherit; background: rgba(var(--mark), var(--a)); border-radius: 3px; padding: 0 1px; }
.unread { opacity: .5; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th { text-align: left; color: var(--dim); font-weight: normal; border-bottom: 1px solid var(--line); }
td, th { padding: .15rem .6rem .15rem 0; vertical-align: baseline; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.bar { width: 30%; min-width: 6rem; }
td.bar span { display: block; height: .75rem; border-radius: 2px; background: var(--added); }
td.bar span.own, .legend .own { background: var(--own); }
td.parts div { display: flex; height: .75rem; }
td.parts span { border-radius: 0; }
td.parts .borrowed, .legend .borrowed {
  background: repeating-linear-gradient(45deg, var(--own) 0 2px, var(--paper) 2px 4px);
}
td.parts .vector, .legend .vector { background: none; border: 1px solid var(--added); box-sizing: border-box; }
.legend span { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; background: var(--added); }
tr.sum td { border-top: 1px solid var(--line); }
"""
