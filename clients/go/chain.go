package tinct

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/bits"
	"sort"
	"strings"
)

const (
	chainSchema  = "tinct/local-chain@1"
	memorySchema = "tinct/memo@1"
)

var (
	half   = new(big.Int).Lsh(big.NewInt(1), 31) // units of each of the two stages
	stages = map[string]string{"bits": "unary", "cells": "cells", "hash": "hash"}
)

// Chain is two stages of noise for people who are asked again, verified: the first stage, and both as one.
type Chain struct {
	memo, both *Mechanism
	kind       string
	noise      *big.Int
	count      int // values of the first stage, or symbols for bits
	prime      int
	own, other *big.Int
}

// ReadChain is the chain that the text of a file holds, if it keeps the limits; an empty text is no limit.
func ReadChain(text []byte, lifetime, first string) (made *Chain, err error) {
	defer func() {
		if why, refused := recover().(refusal); refused {
			made, err = nil, why
		}
	}()
	read := parsed(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	object, _ := read.(map[string]any)
	demand(object != nil && object["schema"] == chainSchema, "schema must be %s", chainSchema)
	names := []string{"schema", "kind", "lifetime", "first", "symbols", "lifetime_growth", "first_growth", "memo", "noise"}
	field := fieldsOf(read, "the chain", names, nil)
	made = &Chain{noise: unitsOf(field["noise"], "noise")}
	made.kind, _ = field["kind"].(string)
	demand(stages[made.kind] != "", "kind must be bits, cells or hash")
	made.memo = stage(field, field["memo"], "lifetime")
	part := field["memo"].(map[string]any)
	same := made.memo.kind == stages[made.kind] && unitsOf(part["denominator"], "denominator").Cmp(half) == 0
	demand(same, "memo must be of this kind and have 2^31 units")
	made.compose(field, part)
	limited(made.memo, lifetime)
	limited(made.both, first)
	return made, nil
}

func limited(mechanism *Mechanism, limit string) {
	fine := limit == "" || noLarger(mechanism.budget, amountOf(limit, "the limit"))
	demand(fine, "ε = %s is more than %s", mechanism.Epsilon, limit)
}

// stage is a mechanism of the chain's symbols.
func stage(field map[string]any, randomiser any, budget string) *Mechanism {
	return proved(map[string]any{
		"schema": schema, "name": "", "delta": "0", "epsilon": field[budget], "symbols": field["symbols"],
		"growth": field[budget+"_growth"], "randomiser": randomiser,
	})
}

func product(factors ...*big.Int) *big.Int {
	found := big.NewInt(1)
	for _, factor := range factors {
		found.Mul(found, factor)
	}
	return found
}

// compose makes the two stages one, in units out of 2^62.
func (c *Chain) compose(field, part map[string]any) {
	values := 2
	c.count = c.memo.size
	if c.kind == "hash" {
		c.count, c.prime = wholeOf(part["buckets"], "buckets"), wholeOf(part["prime"], "prime")
	}
	if c.kind != "bits" {
		values = c.count
	}
	demand(product(c.noise, big.NewInt(int64(values))).Cmp(half) <= 0, "noise must leave the kept value the likeliest")
	both := map[string]any{}
	for name, value := range part {
		both[name] = value
	}
	both["denominator"] = product(half, half).String()
	c.other = unitsOf(part["other"], "other")
	rest := big.NewInt(int64(values - 1))
	kept := new(big.Int).Sub(half, product(rest, c.noise))
	if c.kind == "bits" {
		other := new(big.Int).Add(product(c.other, kept), product(new(big.Int).Sub(half, c.other), c.noise))
		both["other"] = other.String()
	} else {
		c.own = unitsOf(part["own"], "own")
		both["own"] = new(big.Int).Add(product(c.own, kept), product(rest, c.other, c.noise)).String()
		other := new(big.Int).Add(product(c.own, c.noise), product(c.other, kept))
		both["other"] = other.Add(other, product(big.NewInt(int64(values-2)), c.other, c.noise)).String()
	}
	if c.kind == "cells" {
		demand(wholeOf(part["cells"], "cells") == c.memo.size, "the cells of a chain must be its symbols")
		for at, cell := range listOf(part["cell_of"], "cell_of") {
			demand(wholeOf(cell, "cell_of") == at, "the cells of a chain must be its symbols")
		}
	}
	c.both = stage(field, both, "first")
}

type memory struct {
	hash  []int
	drawn map[int]any // an int, or []int of bits
}

// text is a memory as JSON, with a checksum against damage.
func (c *Chain) text(kept memory) string {
	compact := func(value any) string {
		text, _ := json.Marshal(value)
		return string(text)
	}
	places := make([]int, 0, len(kept.drawn))
	for at := range kept.drawn {
		places = append(places, at)
	}
	sort.Ints(places)
	drawn := make([]string, len(places))
	for which, at := range places {
		drawn[which] = fmt.Sprintf("\"%d\":%s", at, compact(kept.drawn[at]))
	}
	hash := "null"
	if kept.hash != nil {
		hash = compact(kept.hash)
	}
	lines := fmt.Sprintf("{\n\"schema\": %q,\n\"memo\": %q,\n\"mechanism\": %q,\n\"hash\": %s,\n\"drawn\": {%s}",
		memorySchema, c.memo.id, c.both.id, hash, strings.Join(drawn, ","))
	sum := sha256.Sum256([]byte(lines + "\n}\n"))
	return fmt.Sprintf("%s,\n\"check\": %q\n}\n", lines, hex.EncodeToString(sum[:])[:16])
}

// remembered reads a memory: only one that this chain would have written exactly so.
func (c *Chain) remembered(text string) (kept memory) {
	object, _ := parsed([]byte(text)).(map[string]any)
	demand(object != nil, "it is no memory of a chain")
	whole := func(given any, bound int) int {
		number := wholeOf(given, "a number")
		demand(number < bound, "it holds what the chain cannot have drawn")
		return number
	}
	kept.drawn = map[int]any{}
	if object["hash"] != nil {
		pair := listOf(object["hash"], "hash")
		demand(len(pair) == 2, "it holds what the chain cannot have drawn")
		kept.hash = []int{whole(pair[0], c.prime), whole(pair[1], c.prime)}
		demand(kept.hash[0] > 0, "it holds what the chain cannot have drawn")
	}
	drawn, _ := object["drawn"].(map[string]any)
	for name, value := range drawn {
		at := whole(json.Number(name), c.count)
		if c.kind != "bits" {
			kept.drawn[at] = whole(value, c.count)
			continue
		}
		found := []int{}
		for _, bit := range listOf(value, "drawn") {
			found = append(found, whole(bit, 2))
		}
		demand(len(found) == c.memo.size, "it holds what the chain cannot have drawn")
		kept.drawn[at] = found
	}
	demand(c.text(kept) == text, "it was changed or damaged since it was written, or is of another chain")
	return kept
}

// Answer is one report in its envelope, and the memory that the device has to keep for the next one; first it is empty.
// Losing the memory costs the whole lifetime's ε again.
func (c *Chain) Answer(answer any, memory string) (*Envelope, string, error) {
	return c.AnswerFrom(answer, memory, bufio.NewReaderSize(rand.Reader, 4096))
}

// AnswerFrom is Answer with another source of bytes, which is for tests alone.
func (c *Chain) AnswerFrom(answer any, held string, source io.Reader) (sent *Envelope, after string, err error) {
	defer func() {
		switch why := recover().(type) {
		case nil:
		case noBytes:
			sent, after, err = nil, "", fmt.Errorf("no random bytes: %w", why.error)
		case refusal:
			sent, after, err = nil, "", errors.New("the memory or the answer is refused: "+string(why))
		default:
			panic(why)
		}
	}()
	code, known := c.memo.places[keyOf(plainAnswer(answer), 0)]
	demand(known, "the answer is not one of the chain's symbols")
	kept := memory{drawn: map[int]any{}}
	if held != "" {
		kept = c.remembered(held)
	}
	report := c.drawn(code, &kept, source)
	return &Envelope{version, c.both.id, c.both.packed(report)}, c.text(kept), nil
}

// drawn is a report, from what is kept; what is not yet kept is drawn first.
func (c *Chain) drawn(code int, kept *memory, source io.Reader) any {
	fresh := func(cell any) int {
		rest := product(big.NewInt(int64(c.count-1)), c.noise)
		return drawCell(cell.(int), rest.Sub(half, rest), c.noise, half, source)
	}
	if c.kind == "hash" {
		if kept.hash == nil {
			first := belowSmall(c.prime-1, source) + 1
			kept.hash = []int{first, belowSmall(c.prime, source)}
		}
		high, low := bits.Mul64(uint64(kept.hash[0]), uint64(code))
		low, carry := bits.Add64(low, uint64(kept.hash[1]), 0)
		_, rest := bits.Div64(high+carry, low, uint64(c.prime))
		at := int(rest) % c.count
		if kept.drawn[at] == nil {
			kept.drawn[at] = drawCell(at, c.own, c.other, half, source)
		}
		return []int{kept.hash[0], kept.hash[1], fresh(kept.drawn[at])}
	}
	if kept.drawn[code] == nil {
		found, _ := c.memo.draw(code, source)
		if truths, is := found.([]bool); is {
			found = ones(truths)
		}
		kept.drawn[code] = found
	}
	if c.kind == "cells" {
		return fresh(kept.drawn[code])
	}
	found := make([]bool, c.memo.size)
	for symbol, bit := range kept.drawn[code].([]int) {
		found[symbol] = (bit == 1) != (below(half, source).Cmp(c.noise) < 0)
	}
	return found
}

func ones(truths []bool) []int {
	found := make([]int, len(truths))
	for at, truth := range truths {
		if truth {
			found[at] = 1
		}
	}
	return found
}
