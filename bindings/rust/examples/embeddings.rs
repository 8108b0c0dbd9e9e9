//! Ranks texts by how like they are to a query: by the cosine of their embeddings, the likest first.
//! usage: embeddings MODEL QUERY TEXT...
use inlay::{EmbedOptions, Engine, LoadOptions, Pooling, Status};

const USAGE: &str = "usage: embeddings MODEL QUERY TEXT...";

/// A vector of length 1 for each text. A model that was made for embeddings says how it pools; of others the mean is taken.
fn embed(engine: &Engine, texts: &[String]) -> inlay::Result<Vec<Vec<f32>>> {
    let options = EmbedOptions::default().normalize(true);
    match engine.embed(texts, options) {
        Err(error) if error.status() == Status::Unsupported => engine.embed(texts, options.pooling(Pooling::Mean)),
        vectors => vectors,
    }
}

/// Of vectors of length 1 it is their scalar product.
fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(model), Some(query)) = (arguments.next(), arguments.next()) else {
        return Err(USAGE.into());
    };
    let texts: Vec<String> = arguments.collect();
    if texts.is_empty() {
        return Err(USAGE.into());
    }

    let engine = Engine::load(model, LoadOptions::default())?;
    let query = embed(&engine, &[query])?.remove(0);
    let vectors = embed(&engine, &texts)?;
    let mut ranking: Vec<(f32, &String)> =
        vectors.iter().zip(&texts).map(|(vector, text)| (cosine(&query, vector), text)).collect();
    ranking.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (cosine, text) in ranking {
        println!("{cosine:.4}  {text}");
    }
    Ok(())
}
