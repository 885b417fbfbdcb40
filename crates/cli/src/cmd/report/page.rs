//! The page itself: plain HTML and CSS, nothing fetched, nothing run.

use std::fmt::Write;

pub(crate) use restride_bench::svg::escape;

/// The longest text of a block; what is cut is said.
const MAX_BLOCK: usize = 20_000;

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--dim:#888}\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:110rem;padding:0 1.5rem}\
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem;border-bottom:1px solid var(--line)}\
h3{font-size:.95rem;margin:.2rem 0;color:var(--dim)}\
pre{font:12px/1.45 ui-monospace,monospace;overflow:auto;max-height:34rem;margin:0;padding:.7rem;\
border:1px solid var(--line);border-radius:6px}\
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,38rem),1fr));gap:1rem}\
figure{margin:.5rem 1.5rem .5rem 0;display:inline-block;vertical-align:top;max-width:100%;overflow:auto}\
figcaption{font-size:12px;color:var(--dim)}rect{stroke:var(--line);stroke-width:.5}\
table{border-collapse:collapse}td,th{padding:.15rem .8rem;text-align:right;border-bottom:1px solid var(--line)}\
td:first-child,th:first-child{text-align:left}li{margin:.1rem 0}\
.scale{display:inline-block;width:12rem;height:.8rem;vertical-align:middle;border-radius:3px;\
background:linear-gradient(to right,hsl(240 80% 50%),hsl(180 80% 50%),hsl(120 80% 50%),hsl(60 80% 50%),hsl(0 80% 50%))}";

/// A page that is being written.
pub(crate) struct Page(String);

impl Page {
    /// A page with a title.
    pub(crate) fn new(title: &str) -> Self {
        Self::styled(title, "")
    }

    /// A page with a title and a style of its own besides.
    pub(crate) fn styled(title: &str, style: &str) -> Self {
        let title = escape(title);
        Self(format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'unsafe-inline'\">\n\
             <title>{title}</title><style>{STYLE}{style}</style></head><body>\n<h1>{title}</h1>\n"
        ))
    }

    /// A heading with an anchor.
    pub(crate) fn section(&mut self, id: &str, heading: &str) {
        let heading = escape(heading);
        let _ = writeln!(self.0, "<h2 id=\"{}\">{heading}</h2>", escape(id));
    }

    /// Words.
    pub(crate) fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.0, "<p>{}</p>", escape(text));
    }

    /// A list, unless it is empty.
    pub(crate) fn list(&mut self, items: impl IntoIterator<Item = String>) {
        let mut items = items.into_iter().peekable();
        if items.peek().is_none() {
            return;
        }
        self.0.push_str("<ul>\n");
        for item in items {
            let _ = writeln!(self.0, "<li>{}</li>", escape(&item));
        }
        self.0.push_str("</ul>\n");
    }

    /// Blocks of text side by side.
    pub(crate) fn columns<'t>(&mut self, blocks: impl IntoIterator<Item = (&'t str, &'t str)>) {
        self.0.push_str("<div class=\"columns\">\n");
        for (heading, text) in blocks {
            let shown: String = text.chars().take(MAX_BLOCK).collect();
            let cut = if shown.len() < text.len() {
                "\n..."
            } else {
                ""
            };
            let _ = writeln!(
                self.0,
                "<div><h3>{}</h3><pre>{}{cut}</pre></div>",
                escape(heading),
                escape(shown.trim_end())
            );
        }
        self.0.push_str("</div>\n");
    }

    /// A table; the first row is its heading.
    pub(crate) fn table(&mut self, rows: &[Vec<String>]) {
        self.0.push_str("<table>\n");
        for (at, row) in rows.iter().enumerate() {
            let tag = if at == 0 { "th" } else { "td" };
            self.0.push_str("<tr>");
            for cell in row {
                let _ = write!(self.0, "<{tag}>{}</{tag}>", escape(cell));
            }
            self.0.push_str("</tr>\n");
        }
        self.0.push_str("</table>\n");
    }

    /// The colours of time.
    pub(crate) fn scale(&mut self) {
        self.0
            .push_str("<p>first <span class=\"scale\"></span> last</p>\n");
    }

    /// Markup that is escaped already.
    pub(crate) fn markup(&mut self, markup: &str) {
        self.0.push_str(markup);
    }

    /// The whole page.
    pub(crate) fn finish(self) -> String {
        self.0 + "</body></html>\n"
    }
}

/// Markup that is escaped already, by `write!`.
impl Write for Page {
    fn write_str(&mut self, markup: &str) -> std::fmt::Result {
        self.0.push_str(markup);
        Ok(())
    }
}
