//! Attention, in the forms that operators of several sets have.

use super::{Ask, Rules, Types, Why, dense, one};

pub(super) const RULES: Rules = &[
    ("Attention MultiHeadAttention", attention),
    ("ScaledDotProductAttention", like_values),
    ("LinearAttention", linear),
    ("GroupQueryAttention", grouped),
];

/// ONNX's own: queries, keys and values with heads as an axis or inside of the last, and keys and
/// values from before. Of other sets only the first output is told, which is as wide as the values are.
fn attention(ask: &Ask<'_>) -> Result<Types, Why> {
    let query = ask.input(0)?;
    if !ask.own {
        let known = ask.tensor(2).is_some();
        let mut types: Types = vec![None; ask.outputs.max(1)];
        types[0] = known.then(|| query.clone());
        return Ok(types);
    }
    let heads = |at: usize, count: &str| -> Result<[i64; 4], Why> {
        match (ask.input(at)?.shape(), ask.int(count, 0)) {
            (&[batch, heads, length, size], _) => Ok([batch, heads, length, size]),
            (&[batch, length, size], heads) if heads > 0 => {
                Ok([batch, heads, length, size / heads])
            }
            _ => Err("it does not say how many heads there are".into()),
        }
    };
    let [batch, query_heads, length, _] = heads(0, "q_num_heads")?;
    let [_, key_heads, new, size] = heads(1, "kv_num_heads")?;
    let [_, _, _, value_size] = heads(2, "kv_num_heads")?;
    let before = match ask.tensor(4) {
        Some(_) => ask.input(4)?.shape().get(2).copied().unwrap_or(0),
        None => 0,
    };
    let total = before.saturating_add(new);
    let result = match query.rank() {
        3 => vec![batch, length, query_heads.saturating_mul(value_size)],
        _ => vec![batch, query_heads, length, value_size],
    };
    let mut types: Types = vec![
        Some(dense(query.element(), result)?),
        Some(dense(
            ask.input(1)?.element(),
            [batch, key_heads, total, size],
        )?),
        Some(dense(
            ask.input(2)?.element(),
            [batch, key_heads, total, value_size],
        )?),
        Some(dense(query.element(), [batch, query_heads, length, total])?),
    ];
    types.truncate(ask.outputs.max(1));
    Ok(types)
}

/// As many rows as there are queries, as wide as the values are.
fn like_values(ask: &Ask<'_>) -> Result<Types, Why> {
    let (query, value) = (ask.input(0)?, ask.input(2)?);
    let mut shape = query.shape().to_vec();
    if let (Some(to), Some(&from)) = (shape.last_mut(), value.shape().last()) {
        *to = from;
    }
    one(dense(query.element(), shape)?)
}

/// Heads inside of the last axis, and a state that does not grow.
fn linear(ask: &Ask<'_>) -> Result<Types, Why> {
    let (query, key, value) = (ask.input(0)?, ask.input(1)?, ask.input(2)?);
    let (queries, values) = (ask.int("q_num_heads", 0), ask.int("kv_num_heads", 0));
    let (&[batch, length, _], &[_, _, key_width], &[_, _, value_width]) = (
        <&[i64; 3]>::try_from(query.shape()).map_err(|_| "its queries have not three axes")?,
        <&[i64; 3]>::try_from(key.shape()).map_err(|_| "its keys have not three axes")?,
        <&[i64; 3]>::try_from(value.shape()).map_err(|_| "its values have not three axes")?,
    );
    if queries < 1 || values < 1 {
        return Err("it does not say how many heads there are".into());
    }
    let size = value_width / values;
    let state = match ask.tensor(3) {
        Some(_) => ask.input(3)?.element(),
        None => query.element(),
    };
    let whole = [batch, length, queries.saturating_mul(size)];
    Ok(vec![
        Some(dense(query.element(), whole)?),
        Some(dense(state, [batch, values, key_width / values, size])?),
    ])
}

/// ONNX Runtime's: like the queries, where keys and values are not packed behind them.
fn grouped(ask: &Ask<'_>) -> Result<Types, Why> {
    let query = ask.input(0)?;
    if ask.own || ask.tensor(1).is_none() {
        return Err("its queries are packed with keys and values".into());
    }
    let mut types: Types = vec![Some(query.clone())];
    types.resize(ask.outputs.max(1), None);
    Ok(types)
}
