//! Chat templates on minijinja, set up to print what jinja2 prints with the reference's settings.

use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};

use crate::python;

/// Instructions after which a template is stopped: some 30 are used for a message.
const FUEL: u64 = 10_000_000;

pub struct ChatTemplate {
    environment: Environment<'static>,
    source: String,
}

impl ChatTemplate {
    pub fn new(source: &str) -> Result<Self, String> {
        let template = Self { environment: environment(), source: prepare(source) };
        template
            .environment
            .template_from_named_str("chat template", &template.source)
            .map_err(|error| describe(&error))?;
        Ok(template)
    }

    /// `context` is a JSON object: messages, add_generation_prompt, bos_token, ...
    pub fn render(&self, context: &str) -> Result<String, String> {
        let context: serde_json::Value =
            serde_json::from_str(context).map_err(|error| format!("context: {error}"))?;
        self.environment
            .template_from_named_str("chat template", &self.source)
            .and_then(|template| template.render(Value::from_serialize(&context)))
            .map_err(|error| describe(&error))
    }
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_fuel(Some(FUEL));
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_formatter(|out, _, value| {
        out.write_str(&python::to_str(value)?).map_err(Error::from)
    });
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_filter("tojson", |value: Value, options: Kwargs| python::to_json(&value, options));
    environment.add_filter("string", |value: Value| python::to_str(&value));
    environment.add_filter("join", join);
    environment.add_function("raise_exception", |message: Value| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, format!("the template refuses: {message}")))
    });
    environment
}

fn join(values: Value, separator: Option<Value>, options: Kwargs) -> Result<String, Error> {
    let separator = python::to_str(&separator.or(options.get("d")?).unwrap_or_default())?;
    let attribute: Option<Value> = options.get("attribute")?;
    options.assert_all_used()?;
    let mut texts = Vec::new();
    for value in values.try_iter()? {
        texts.push(python::to_str(&match &attribute {
            Some(attribute) => value.get_item(attribute)?,
            None => value,
        })?);
    }
    Ok(texts.join(&separator))
}

/// jinja2 reads every line end as "\n". `generation` blocks only mark tokens for training: they become
/// `if true` blocks, which keeps their whitespace rules.
fn prepare(source: &str) -> String {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(source.len());
    let mut rest = source.as_str();
    while let Some(start) = rest.find("{%") {
        let (before, tag) = rest.split_at(start);
        let end = tag.find("%}").map_or(tag.len(), |end| end + 2);
        let inner = tag[2..end].trim_end_matches("%}").trim_matches(['-', '+']).trim();
        out.push_str(before);
        match inner {
            "generation" => out.push_str(&tag[..end].replacen("generation", "if true", 1)),
            "endgeneration" => out.push_str(&tag[..end].replacen("endgeneration", "endif", 1)),
            _ => out.push_str(&tag[..end]),
        }
        rest = &tag[end..];
    }
    out.push_str(rest);
    out
}

/// "line 3: unknown filter: filter foo is unknown", with what caused it.
fn describe(error: &Error) -> String {
    let mut text = match error.line() {
        Some(line) => format!("line {line}: {}", error.kind()),
        None => error.kind().to_string(),
    };
    if let Some(detail) = error.detail() {
        text = format!("{text}: {detail}");
    }
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
