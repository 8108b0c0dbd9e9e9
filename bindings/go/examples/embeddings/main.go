// Command embeddings ranks texts by how like they are to a query: by the cosine of their embeddings, the likest first.
//
//	embeddings MODEL QUERY TEXT...
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sort"

	"inlay.dev/inlay"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: embeddings MODEL QUERY TEXT...")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := rank(ctx, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "embeddings:", err)
		os.Exit(1)
	}
}

type ranked struct {
	likeness float64
	text     string
}

func rank(ctx context.Context, model string, texts []string) error {
	engine, err := inlay.Load(ctx, model, nil)
	if err != nil {
		return err
	}
	defer engine.Close()
	tokens := make([][]int32, len(texts))
	for i, text := range texts {
		if tokens[i], err = engine.Tokenize(text, 0); err != nil {
			return err
		}
	}
	// A model that was not made for embeddings names no pooling: the mean is a good choice.
	vectors, err := engine.Embed(ctx, tokens, inlay.PoolingMean, inlay.EmbedNormalize)
	if err != nil {
		return err
	}
	var others []ranked
	for i, vector := range vectors[1:] {
		others = append(others, ranked{cosine(vectors[0], vector), texts[1+i]})
	}
	sort.SliceStable(others, func(i, j int) bool { return others[i].likeness > others[j].likeness })
	for _, other := range others {
		fmt.Printf("%.4f  %s\n", other.likeness, other.text)
	}
	return nil
}

// cosine is the scalar product, since the vectors have length 1.
func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
