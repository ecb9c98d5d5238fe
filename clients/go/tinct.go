// Package tinct runs a tinct local mechanism (a file of schema tinct/local@1) on one answer, after proving that the file
// keeps what it states. Whoever collects the answers also wrote the file, so nothing in it is believed: the units are
// checked against the stated ε and δ in whole numbers, and e^ε is bounded here. The answer leaves the device only as what
// Report or Privatize returns. docs/client.md describes the file, the checks and the algorithm.
package tinct

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/bits"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	schema        = "tinct/local@1"
	version       = 1 // of the envelope around a report
	mostEpsilon   = 700
	longestText   = 10000
	mostDigits    = 400
	deepest       = 64
	deepestSymbol = 16
)

var (
	required  = []string{"schema", "name", "epsilon", "delta", "symbols", "growth", "randomiser"}
	optional  = []string{"channel", "utility", "value", "upper_bound", "certificate", "note", "p0", "p1"}
	mostUnits = new(big.Int).Lsh(big.NewInt(1), 62)
	one       = big.NewInt(1)
)

// Mechanism is a mechanism that was verified; nothing changes it.
type Mechanism struct {
	places  map[string]int
	draw    func(at int, source io.Reader) (any, error)
	budget  amount
	delta   *big.Rat
	id      string
	size    int
	kind    string
	members int
	Epsilon string // what it provably keeps, as its file writes it
	Delta   string
}

// Limit is what a person agrees to at most; no δ unless it is named.
type Limit struct{ Epsilon, Delta string }

// Envelope is a report as it is sent.
type Envelope struct {
	Version   int    `json:"version"`
	Mechanism string `json:"mechanism"`
	Report    any    `json:"report"`
}

type refusal string

func (why refusal) Error() string { return "the mechanism is refused: " + string(why) }

func demand(holds bool, why string, parts ...any) {
	if !holds {
		panic(refusal(fmt.Sprintf(why, parts...)))
	}
}

// Read is the mechanism that the text of a file holds, verified; most may be nil.
func Read(text []byte, most *Limit) (made *Mechanism, err error) {
	defer func() {
		if why, refused := recover().(refusal); refused {
			made, err = nil, why
		}
	}()
	made = proved(parsed(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	if most != nil {
		limit := amountOf(most.Epsilon, "the limit of epsilon")
		demand(noLarger(made.budget, limit), "ε = %s is more than the limit, %s", made.Epsilon, most.Epsilon)
		share := new(big.Rat)
		if most.Delta != "" {
			share = rational(most.Delta, "the limit of delta")
		}
		demand(made.delta.Cmp(share) <= 0, "δ = %s is more than the limit, %s", made.Delta, share)
	}
	return made, nil
}

// ID is by what reports name the mechanism: the beginning of the SHA-256 of its symbols and units.
func (m *Mechanism) ID() string { return m.id }

// Report is one report of an answer as it is sent, with the operating system's randomness.
func (m *Mechanism) Report(answer any) (*Envelope, error) {
	return m.ReportFrom(answer, bufio.NewReaderSize(rand.Reader, 4096))
}

// ReportFrom is Report with another source of bytes, which is for tests alone.
func (m *Mechanism) ReportFrom(answer any, source io.Reader) (*Envelope, error) {
	report, err := m.PrivatizeFrom(answer, source)
	if err != nil {
		return nil, err
	}
	return &Envelope{version, m.id, m.packed(report)}, nil
}

// Privatize is one report of an answer: an int, []int, or []bool for unary mechanisms.
func (m *Mechanism) Privatize(answer any) (any, error) {
	return m.PrivatizeFrom(answer, bufio.NewReaderSize(rand.Reader, 4096))
}

// PrivatizeFrom is Privatize with another source of bytes, which is for tests alone.
func (m *Mechanism) PrivatizeFrom(answer any, source io.Reader) (report any, err error) {
	defer func() {
		switch why := recover().(type) {
		case nil:
		case noBytes:
			report, err = nil, fmt.Errorf("no random bytes: %w", why.error)
		case refusal:
			report, err = nil, errors.New("the answer is not one of the mechanism's symbols")
		default:
			panic(why)
		}
	}()
	at, known := m.places[keyOf(plainAnswer(answer), 0)]
	demand(known, "")
	return m.draw(at, source)
}

// packed writes bits in Base64 where they are shorter than numbers, which only the mechanism decides.
func (m *Mechanism) packed(report any) any {
	digits := len(strconv.Itoa(m.size-1)) + 1
	shorter := m.kind == "subset" && m.members > 1 && (m.size+23)/24*4 < m.members*digits
	if m.kind != "unary" && !shorter {
		return report
	}
	held := make([]byte, (m.size+7)/8)
	switch parts := report.(type) {
	case []bool:
		for symbol, bit := range parts {
			if bit {
				held[symbol/8] |= 1 << (symbol % 8)
			}
		}
	case []int:
		for _, symbol := range parts {
			held[symbol/8] |= 1 << (symbol % 8)
		}
	}
	return base64.StdEncoding.EncodeToString(held)
}

// ------------------------------------------------------------------------------------------------------ strict JSON

// parsed is what a JSON text says, if it says it in one way only: objects are map[string]any, numbers json.Number.
func parsed(text []byte) any {
	demand(utf8.Valid(text) && json.Valid(text), "the file is not JSON")
	wholeCharacters(text)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return value(decoder, 0)
}

var escapes = regexp.MustCompile(`\\(?:u([0-9a-fA-F]{4})|[^u])`)

// wholeCharacters refuses halves of surrogate pairs, which the decoder would replace.
func wholeCharacters(text []byte) {
	waits := -1 // where the second half has to begin
	for _, found := range escapes.FindAllSubmatchIndex(text, -1) {
		var code uint64
		if found[2] >= 0 {
			code, _ = strconv.ParseUint(string(text[found[2]:found[3]]), 16, 32)
		}
		isSecond := code >= 0xdc00 && code <= 0xdfff
		demand(isSecond == (waits == found[0]) && (waits < 0 || waits == found[0]), "a text has half a surrogate pair")
		waits = -1
		if code >= 0xd800 && code <= 0xdbff {
			waits = found[1]
		}
	}
	demand(waits < 0, "a text has half a surrogate pair")
}

func value(decoder *json.Decoder, nested int) any {
	token, err := decoder.Token()
	demand(err == nil, "the file is not JSON")
	switch found := token.(type) {
	case json.Delim:
		demand(nested < deepest, "the brackets are nested deeper than %d", deepest)
		if found == '[' {
			list := []any{}
			for decoder.More() {
				list = append(list, value(decoder, nested+1))
			}
			_, _ = decoder.Token()
			return list
		}
		object := map[string]any{}
		for decoder.More() {
			key, _ := decoder.Token()
			name := key.(string)
			_, twice := object[name]
			demand(!twice, "the key %.80q is given twice", name)
			object[name] = value(decoder, nested+1)
		}
		_, _ = decoder.Token()
		return object
	case json.Number:
		digits := strings.Map(func(sign rune) rune {
			if sign < '0' || sign > '9' {
				return -1
			}
			return sign
		}, string(found))
		demand(len(digits) <= mostDigits, "a number has more than %d digits", mostDigits)
		if strings.ContainsAny(string(found), ".eE") {
			_, err := found.Float64()
			demand(err == nil, "a number is too large")
		}
		return found
	default:
		return found
	}
}

func fieldsOf(given any, what string, required, optional []string) map[string]any {
	object, is := given.(map[string]any)
	demand(is, "%s must be an object", what)
	known := map[string]bool{}
	for _, name := range required {
		_, there := object[name]
		demand(there, "%s has no field %q", what, name)
		known[name] = true
	}
	for _, name := range optional {
		known[name] = true
	}
	for name := range object {
		demand(known[name], "%s has an unknown field %.80q", what, name)
	}
	return object
}

func listOf(given any, what string) []any {
	list, is := given.([]any)
	demand(is && len(list) > 0, "%s must be a list that is not empty", what)
	return list
}

func isText(given any) bool {
	text, is := given.(string)
	return is && utf8.RuneCountInString(text) <= longestText
}

func isNumber(given any) (float64, bool) {
	number, is := given.(json.Number)
	if !is {
		return 0, false
	}
	found, err := number.Float64()
	return found, err == nil
}

func wholeOf(given any, what string) int {
	number, is := given.(json.Number)
	found, err := strconv.ParseInt(string(number), 10, 64)
	demand(is && err == nil && found >= 0 && found < 1<<40 && !strings.ContainsAny(string(number), ".eE"),
		"%s must be a whole number", what)
	return int(found)
}

var wholeText = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,18})$`)

func unitsOf(given any, what string) *big.Int {
	text, is := given.(string)
	demand(is && wholeText.MatchString(text), "%s must hold whole numbers as text", what)
	found, _ := new(big.Int).SetString(text, 10)
	return found
}

func plainText(given any, what string) string {
	text, is := given.(string)
	demand(is && len(text) <= longestText, "%s must be plain text", what)
	for _, sign := range []byte(text) {
		demand(sign >= ' ' && sign <= '~', "%s must be plain text", what)
	}
	return text
}

// --------------------------------------------------------------------------------------------------- exact numbers

// amount is an ε: a rational, or the logarithm of one.
type amount struct {
	value     *big.Rat
	logarithm bool
}

const numeral = `([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)`

var (
	ratio     = regexp.MustCompile(`^` + numeral + `(?:\s*/\s*` + numeral + `)?$`)
	parts     = regexp.MustCompile(`^([+-]?)([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+))?$`)
	logarithm = regexp.MustCompile(`^(?:ln|log)(?:\s*\((.*)\)|\s+(.*))$`)
	lowest    = regexp.MustCompile(`^[0-9]+(?:/[0-9]+)?$`)
)

func decimal(text, what string) *big.Rat {
	found := parts.FindStringSubmatch(text)
	power := 0
	if found[4] != "" {
		read, err := strconv.Atoi(found[4])
		demand(err == nil && read >= -400 && read <= 400, "%s may have exponents up to 400", what)
		power = read
	}
	digits, _ := new(big.Int).SetString("0"+found[2]+found[3], 10)
	if found[1] == "-" {
		digits.Neg(digits)
	}
	shift := power - len(found[3])
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil)
	if shift < 0 {
		return new(big.Rat).SetFrac(digits, ten)
	}
	return new(big.Rat).SetInt(digits.Mul(digits, ten))
}

func max(first, second int) int {
	if first > second {
		return first
	}
	return second
}

func rational(text, what string) *big.Rat {
	stripped := strings.Trim(text, " ")
	found := ratio.FindStringSubmatch(stripped)
	demand(len(stripped) <= 1000 && found != nil, "%s must be a number such as \"0.1\" or \"1/3\"", what)
	above := decimal(found[1], what)
	if found[2] == "" {
		return above
	}
	below := decimal(found[2], what)
	demand(below.Sign() != 0, "%s must not divide by zero", what)
	return above.Quo(above, below)
}

func fits(value *big.Rat) bool {
	return len(new(big.Int).Abs(value.Num()).String()) <= 1300 && len(value.Denom().String()) <= 1300
}

func amountOf(given any, what string) amount {
	text := plainText(given, what)
	inner := logarithm.FindStringSubmatch(strings.Trim(text, " "))
	if inner != nil {
		text = inner[1] + inner[2]
	}
	value := rational(text, what)
	demand(fits(value), "%s has too many digits", what)
	found := amount{value, inner != nil}
	above, small := false, false
	most := new(big.Rat).SetInt64(mostEpsilon)
	if found.logarithm {
		least := new(big.Rat).SetFrac(one, new(big.Int).Mul(big.NewInt(2), new(big.Int).Exp(big.NewInt(10), big.NewInt(49), nil)))
		above = new(big.Rat).Sub(value, new(big.Rat).SetInt(one)).Cmp(least) > 0
		small = above && atMostExp(value, most)
	} else {
		least := new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, 1075)) // closer to 0 than any floating-point number
		above, small = value.Cmp(least) > 0, value.Cmp(most) <= 0
	}
	demand(above && small, "%s must be above 0 and at most %d", what, mostEpsilon)
	return found
}

// aroundExp gives whole numbers with low ≤ 2^places·e^x ≤ high, for x ≥ 0: the first rounds down, the second up.
func aroundExp(x *big.Rat, places uint) (*big.Int, *big.Int) {
	halvings := uint(new(big.Int).Quo(x.Num(), x.Denom()).BitLen() + 8)
	step := new(big.Int).Quo(new(big.Int).Lsh(x.Num(), places), new(big.Int).Lsh(x.Denom(), halvings))
	unit := new(big.Int).Lsh(one, places)
	up := func(number, by *big.Int) *big.Int {
		sum := new(big.Int).Add(number, by)
		return sum.Quo(sum.Sub(sum, one), by)
	}
	low, high := new(big.Int).Set(unit), new(big.Int).Set(unit)
	least, most := new(big.Int).Set(unit), new(big.Int).Set(unit)
	more := new(big.Int).Add(step, one)
	for count := int64(1); most.Cmp(one) > 0; count++ {
		least = new(big.Int).Quo(new(big.Int).Rsh(new(big.Int).Mul(least, step), places), big.NewInt(count))
		most = up(new(big.Int).Mul(most, more), new(big.Int).Lsh(big.NewInt(count), places))
		low.Add(low, least)
		high.Add(high, most)
	}
	high.Add(high, one) // each further term is less than half the one before
	for squared := uint(0); squared < halvings; squared++ {
		low.Rsh(new(big.Int).Mul(low, low), places)
		high = up(new(big.Int).Mul(high, high), unit)
	}
	return low, high
}

// atMostExp is whether growth ≤ e^x. It ends, because e^x is irrational for a rational x other than 0.
func atMostExp(growth, x *big.Rat) bool {
	for places := uint(128); ; places *= 2 {
		low, high := aroundExp(x, places)
		shifted := new(big.Int).Lsh(growth.Num(), places)
		if shifted.Cmp(new(big.Int).Mul(low, growth.Denom())) <= 0 {
			return true
		}
		if shifted.Cmp(new(big.Int).Mul(high, growth.Denom())) > 0 {
			return false
		}
	}
}

func atMostGrowth(growth *big.Rat, budget amount) bool {
	if budget.logarithm {
		return growth.Cmp(budget.value) <= 0
	}
	return atMostExp(growth, budget.value)
}

func noLarger(first, second amount) bool {
	if first.logarithm {
		return atMostGrowth(first.value, second)
	}
	if second.logarithm {
		return !atMostExp(second.value, first.value)
	}
	return first.value.Cmp(second.value) <= 0
}

// ------------------------------------------------------------------------------------------------------------ symbols

// plainAnswer is an answer as the file would hold it.
func plainAnswer(answer any) any {
	switch found := answer.(type) {
	case int:
		return json.Number(strconv.Itoa(found))
	case float64:
		return json.Number(strconv.FormatFloat(found, 'g', -1, 64))
	case []any:
		list := make([]any, len(found))
		for at, part := range found {
			list[at] = plainAnswer(part)
		}
		return list
	default:
		return answer
	}
}

func doubleOf(symbol any) float64 {
	switch found := symbol.(type) {
	case bool:
		if found {
			return 1
		}
		return 0
	case json.Number:
		number, err := found.Float64()
		demand(err == nil && !math.IsInf(number, 0) && !math.IsNaN(number), "a symbol must be text, a number or a list of such")
		return number + 0
	}
	panic(refusal("a symbol must be text, a number or a list of such"))
}

// keyOf is one text for each symbol, equal for symbols that tinct takes for equal: 1 is also 1.0 and true.
func keyOf(symbol any, nested int) string {
	switch found := symbol.(type) {
	case []any:
		demand(nested < deepestSymbol, "a symbol may be nested up to %d deep", deepestSymbol)
		keys := make([]string, len(found))
		for at, part := range found {
			keys[at] = keyOf(part, nested+1)
		}
		return "[" + strings.Join(keys, ",") + "]"
	case string:
		return strconv.Quote(found)
	case nil:
		demand(nested > 0, "a symbol must be text, a number or a list of such")
		return "null"
	}
	number := doubleOf(symbol)
	// beyond, different numbers of the file are one number here
	demand(number != math.Trunc(number) || math.Abs(number) < 1<<53, "a symbol is a number beyond 2^53")
	return strconv.FormatFloat(number, 'g', -1, 64)
}

// written appends the bytes that name a value: text with its length, numbers by their bits, lists in brackets.
func written(value any, into *bytes.Buffer) {
	switch found := value.(type) {
	case []any:
		into.WriteByte('[')
		for _, part := range found {
			written(part, into)
		}
		into.WriteByte(']')
	case string:
		fmt.Fprintf(into, "t%d:%s", len(found), found)
	case nil:
		into.WriteByte('z')
	default:
		number := doubleOf(value)
		if number == 0 {
			number = 0 // −0 is 0
		}
		into.WriteByte('n')
		_ = binary.Write(into, binary.BigEndian, math.Float64bits(number))
	}
}

func identity(symbols []any, fields map[string]any) string {
	var held bytes.Buffer
	written(symbols, &held)
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		written(name, &held)
		written(fields[name], &held)
	}
	sum := sha256.Sum256(held.Bytes())
	return hex.EncodeToString(sum[:])[:16]
}

// ------------------------------------------------------------------------------------------------------- verification

func proved(read any) *Mechanism {
	object, _ := read.(map[string]any)
	demand(object != nil && object["schema"] == schema, "schema must be %s", schema)
	field := fieldsOf(read, "the mechanism", required, optional)
	symbols := listOf(field["symbols"], "symbols")
	places := map[string]int{}
	for at, symbol := range symbols {
		places[keyOf(symbol, 0)] = at
	}
	demand(len(places) == len(symbols), "symbols must be distinct")
	checkWords(field, len(symbols))
	made := &Mechanism{places: places, size: len(symbols), budget: amountOf(field["epsilon"], "epsilon")}
	made.Epsilon, made.Delta = field["epsilon"].(string), plainText(field["delta"], "delta")
	made.delta = rational(made.Delta, "delta")
	demand(made.delta.Sign() >= 0 && made.delta.Cmp(new(big.Rat).SetInt(one)) <= 0, "delta must be a number from 0 to 1")
	made.prove(field)
	made.id = identity(symbols, field["randomiser"].(map[string]any))
	return made
}

// checkWords looks at what people and analysts read. No draw depends on it; it must still be what it says it is.
func checkWords(field map[string]any, size int) {
	demand(isText(field["name"]), "name must be text")
	note, there := field["note"]
	demand(!there || isText(note), "note must be text")
	for _, name := range []string{"utility", "certificate"} {
		demand(field[name] == nil || isText(field[name]), "%s must be text", name)
	}
	for _, name := range []string{"value", "upper_bound"} {
		number, is := isNumber(field[name])
		demand(field[name] == nil || is && math.Abs(number) < 1e300, "%s must be a number", name)
	}
	_, is := field["channel"].(map[string]any)
	demand(field["channel"] == nil || is, "channel must be an object")
	demand((field["p0"] == nil) == (field["p1"] == nil), "p0 and p1 must be given together")
	for _, name := range []string{"p0", "p1"} {
		if field[name] != nil {
			checkDistribution(listOf(field[name], name), name, size)
		}
	}
}

func checkDistribution(chances []any, name string, size int) {
	demand(len(chances) == size, "%s must have a probability for each symbol", name)
	sum := new(big.Float).SetPrec(2000)
	for _, given := range chances {
		chance, is := isNumber(given)
		demand(is && chance >= 0 && chance <= 1+1e-9, "%s must have a probability for each symbol", name)
		sum.Add(sum, new(big.Float).SetFloat64(chance))
	}
	total, _ := sum.Float64()
	demand(math.Abs(total-1) <= 1e-9, "%s must sum to 1", name)
}

// A rule is what every kind gives: the largest ratio of units of a report for two symbols, and how to draw. Only a table
// and reveal may spill instead: have units by which one row exceeds R times another, for δ.
type rule struct {
	above, below *big.Int
	allowed      *big.Int
	spill        func(growth *big.Rat) *big.Int
	draw         func(at int, source io.Reader) (any, error)
}

var kinds = map[string]struct {
	fields []string
	read   func(field map[string]any, size int, total *big.Int) rule
}{
	"cells":    {[]string{"cells", "own", "other", "cell_of"}, cells},
	"table":    {[]string{"allowed", "rows"}, table},
	"reveal":   {[]string{"cells", "own", "other", "cell_of", "reveal"}, reveal},
	"subset":   {[]string{"members", "inside"}, subset},
	"unary":    {[]string{"other"}, unary},
	"hash":     {[]string{"prime", "buckets", "own", "other"}, hashed},
	"hadamard": {[]string{"order", "plus"}, hadamard},
}

func (m *Mechanism) prove(field map[string]any) {
	given, _ := field["randomiser"].(map[string]any)
	m.kind, _ = given["kind"].(string)
	kind, known := kinds[m.kind]
	demand(known, "this client does not run mechanisms of kind %.80q", m.kind)
	part := fieldsOf(given, "randomiser", append([]string{"kind", "size", "denominator"}, kind.fields...), nil)
	demand(wholeOf(part["size"], "size") == m.size, "the randomiser must be for %d symbols", m.size)
	total := unitsOf(part["denominator"], "denominator")
	demand(total.Cmp(big.NewInt(2)) >= 0 && total.Cmp(mostUnits) <= 0, "the denominator must be from 2 to 2^62")
	made := kind.read(part, m.size, total)
	text, is := field["growth"].(string)
	demand(is && lowest.MatchString(text), "growth must be a whole number or a fraction, as text")
	demand(len(text) <= 2601, "growth has too many digits")
	growth, whole := new(big.Rat).SetString(text)
	demand(whole && growth.RatString() == text && fits(growth), "growth must be written in lowest terms")
	demand(growth.Cmp(new(big.Rat).SetInt(one)) >= 0, "growth must be at least 1")
	demand(atMostGrowth(growth, m.budget), "growth is more than e^ε for ε = %s", m.Epsilon)
	if made.allowed != nil && made.allowed.Sign() > 0 {
		share := new(big.Rat).Mul(m.delta, new(big.Rat).SetInt(total))
		demand(new(big.Rat).SetInt(made.allowed).Cmp(share) <= 0, "allowed is more than δ = %s of the units", m.Delta)
		most := new(big.Int).Mul(made.allowed, growth.Denom())
		demand(made.spill(growth).Cmp(most) <= 0, "not private: the units need more than the δ = %s of the file", m.Delta)
	} else {
		left, right := new(big.Int).Mul(made.above, growth.Denom()), new(big.Int).Mul(growth.Num(), made.below)
		demand(left.Cmp(right) <= 0, "not private: the units allow more than the ε = %s of the file", m.Epsilon)
	}
	m.draw = made.draw
	if m.kind == "subset" {
		m.members = wholeOf(part["members"], "members")
	}
}

func ownAndOther(field map[string]any, count int, total *big.Int) (*big.Int, *big.Int) {
	own, other := unitsOf(field["own"], "own"), unitsOf(field["other"], "other")
	sum := new(big.Int).Mul(other, big.NewInt(int64(count-1)))
	demand(sum.Add(sum, own).Cmp(total) == 0, "own and the others must sum to the denominator")
	demand(other.Sign() > 0 && other.Cmp(own) <= 0, "other must be at least 1 and at most own")
	return own, other
}

func cellsOf(field map[string]any, size int) (int, []int) {
	count, list := wholeOf(field["cells"], "cells"), listOf(field["cell_of"], "cell_of")
	demand(len(list) == size, "cell_of must have a cell for each symbol")
	cellOf := make([]int, size)
	for at, cell := range list {
		cellOf[at] = wholeOf(cell, "cell_of")
		demand(cellOf[at] < count, "cell_of must have a cell from 0 to %d for each symbol", count-1)
	}
	return count, cellOf
}

func cells(field map[string]any, size int, total *big.Int) rule {
	count, cellOf := cellsOf(field, size)
	own, other := ownAndOther(field, count, total)
	draw := func(at int, source io.Reader) (any, error) {
		return drawCell(cellOf[at], own, other, total, source), nil
	}
	return rule{above: own, below: other, draw: draw}
}

// reveal is the symbol itself, after the cells, with units of δ; else as for cells.
func reveal(field map[string]any, size int, total *big.Int) rule {
	count, cellOf := cellsOf(field, size)
	told := unitsOf(field["reveal"], "reveal")
	own, other := ownAndOther(field, count, new(big.Int).Sub(total, told))
	draw := func(at int, source io.Reader) (any, error) {
		drawn := below64(total.Uint64(), source)
		if drawn < told.Uint64() {
			return count + at, nil
		}
		return cellAt(cellOf[at], own, other, drawn-told.Uint64()), nil
	}
	spilt := func(growth *big.Rat) *big.Int {
		over := new(big.Int).Mul(own, growth.Denom())
		over.Sub(over, new(big.Int).Mul(growth.Num(), other))
		found := new(big.Int).Mul(told, growth.Denom())
		if over.Sign() > 0 {
			found.Add(found, over)
		}
		return found
	}
	return rule{own, other, told, spilt, draw}
}

func table(field map[string]any, size int, total *big.Int) rule {
	allowed := unitsOf(field["allowed"], "allowed")
	list := listOf(field["rows"], "rows")
	demand(len(list) == size, "rows must have one row for each symbol, all of one length")
	rows := make([][]*big.Int, size)
	for at, given := range list {
		row, sum := listOf(given, "rows"), new(big.Int)
		demand(at == 0 || len(row) == len(rows[0]), "rows must have one row for each symbol, all of one length")
		rows[at] = make([]*big.Int, len(row))
		for y, units := range row {
			rows[at][y] = unitsOf(units, "rows")
			sum.Add(sum, rows[at][y])
		}
		demand(sum.Cmp(total) == 0, "every row must sum to the denominator")
	}
	draw := func(at int, source io.Reader) (any, error) {
		drawn, sum := below(total, source), new(big.Int)
		for y, units := range rows[at] {
			if drawn.Cmp(sum.Add(sum, units)) < 0 {
				return y, nil
			}
		}
		return nil, errors.New("a row does not sum to the denominator")
	}
	above, least := widest(rows)
	return rule{above, least, allowed, func(growth *big.Rat) *big.Int { return spill(rows, growth) }, draw}
}

// widest is the largest ratio within a column; one without units in any row is never reported.
func widest(rows [][]*big.Int) (*big.Int, *big.Int) {
	above, below := one, one
	for y := range rows[0] {
		least, most := rows[0][y], rows[0][y]
		for _, row := range rows {
			if row[y].Cmp(least) < 0 {
				least = row[y]
			}
			if row[y].Cmp(most) > 0 {
				most = row[y]
			}
		}
		if most.Sign() > 0 && new(big.Int).Mul(most, below).Cmp(new(big.Int).Mul(above, least)) > 0 {
			above, below = most, least
		}
	}
	return above, below
}

// spill is the most units, times the denominator of R, by which one row exceeds R times another.
func spill(rows [][]*big.Int, growth *big.Rat) *big.Int {
	found := new(big.Int)
	for _, first := range rows {
		for _, second := range rows {
			over := new(big.Int)
			for y := range first {
				excess := new(big.Int).Mul(growth.Denom(), first[y])
				if excess.Sub(excess, new(big.Int).Mul(growth.Num(), second[y])).Sign() > 0 {
					over.Add(over, excess)
				}
			}
			if over.Cmp(found) > 0 {
				found = over
			}
		}
	}
	return found
}

func subset(field map[string]any, size int, total *big.Int) rule {
	members := wholeOf(field["members"], "members")
	demand(members >= 1 && members < size, "members must be at least 1 and less than the number of symbols")
	inside := unitsOf(field["inside"], "inside")
	demand(inside.Cmp(total) <= 0, "inside must be at most the denominator")
	// inside/C(k−1, d−1) with the symbol, outside/C(k−1, d) without, and C(k−1, d)/C(k−1, d−1) = (k − d)/d
	above := new(big.Int).Mul(inside, big.NewInt(int64(size-members)))
	under := new(big.Int).Mul(new(big.Int).Sub(total, inside), big.NewInt(int64(members)))
	demand(above.Cmp(under) >= 0, "inside must favour the own symbol")
	draw := func(at int, source io.Reader) (any, error) {
		return drawSubset(at, size, members, below(total, source).Cmp(inside) < 0, source), nil
	}
	return rule{above: above, below: under, draw: draw}
}

func unary(field map[string]any, size int, total *big.Int) rule {
	other := unitsOf(field["other"], "other")
	half := new(big.Int).Rsh(total, 1)
	fine := total.Bit(0) == 0 && other.Sign() > 0 && other.Cmp(half) <= 0
	demand(fine, "other must be at least 1 and at most half of the denominator, which must be even")
	draw := func(at int, source io.Reader) (any, error) {
		found := make([]bool, size)
		for symbol := range found {
			ones := other
			if symbol == at {
				ones = half
			}
			found[symbol] = below(total, source).Cmp(ones) < 0
		}
		return found, nil
	}
	return rule{above: new(big.Int).Sub(total, other), below: other, draw: draw}
}

func hashed(field map[string]any, size int, total *big.Int) rule {
	prime, buckets := wholeOf(field["prime"], "prime"), wholeOf(field["buckets"], "buckets")
	fine := prime >= size && big.NewInt(int64(prime)).ProbablyPrime(20) && buckets >= 2 && buckets <= prime // exact below 2^64
	demand(fine, "prime must be a prime from the number of symbols on, and buckets from 2 to prime")
	own, other := ownAndOther(field, buckets, total)
	draw := func(at int, source io.Reader) (any, error) {
		a, b := belowSmall(prime-1, source)+1, belowSmall(prime, source)
		high, low := bits.Mul64(uint64(a), uint64(at))
		low, carry := bits.Add64(low, uint64(b), 0)
		_, rest := bits.Div64(high+carry, low, uint64(prime))
		return []int{a, b, drawCell(int(rest)%buckets, own, other, total, source)}, nil
	}
	return rule{above: own, below: other, draw: draw}
}

func hadamard(field map[string]any, size int, total *big.Int) rule {
	order := wholeOf(field["order"], "order")
	demand(order > size && order&(order-1) == 0, "order must be a power of two above the number of symbols")
	plus := unitsOf(field["plus"], "plus")
	minus := new(big.Int).Sub(total, plus)
	demand(minus.Sign() >= 0 && plus.Cmp(minus) >= 0, "plus must be from half of the denominator to all of it")
	draw := func(at int, source io.Reader) (any, error) {
		row := at + 1
		odd := below(total, source).Cmp(plus) >= 0
		place := belowSmall(order, source)
		if (bits.OnesCount64(uint64(row&place))%2 == 1) != odd {
			place ^= row & -row // flipping one bit is a bijection
		}
		return place, nil
	}
	return rule{above: plus, below: minus, draw: draw}
}

// -------------------------------------------------------------------------------------------------------------- draws

type noBytes struct{ error }

func take(source io.Reader, into []byte) {
	if len(into) == 0 { // a bound of 1: an attempt like any other, as the vectors count them
		_, _ = source.Read(into)
	} else if _, err := io.ReadFull(source, into); err != nil {
		panic(noBytes{err})
	}
}

// below is a uniform whole number in [0, bound), for bounds up to 2^63: as many little-endian bytes as bound − 1 has bits,
// by rejection.
func below(bound *big.Int, source io.Reader) *big.Int {
	return new(big.Int).SetUint64(below64(bound.Uint64(), source))
}

func belowSmall(bound int, source io.Reader) int { return int(below64(uint64(bound), source)) }

func below64(bound uint64, source io.Reader) uint64 {
	width := bits.Len64(bound - 1)
	mask := uint64(1)<<width - 1
	var held [8]byte
	for {
		take(source, held[:(width+7)/8])
		if drawn := binary.LittleEndian.Uint64(held[:]) & mask; drawn < bound {
			return drawn
		}
	}
}

// drawCell is the own cell with own − other units; the rest of the units is divided evenly among all cells.
func drawCell(cell int, own, other, total *big.Int, source io.Reader) int {
	return cellAt(cell, own, other, below64(total.Uint64(), source))
}

func cellAt(cell int, own, other *big.Int, drawn uint64) int {
	surplus := own.Uint64() - other.Uint64()
	if drawn < surplus {
		return cell
	}
	return int((drawn - surplus) / other.Uint64())
}

// drawSubset is the members of a subset, sorted: the own symbol or not, then uniform others (Floyd's algorithm).
func drawSubset(at, size, members int, holds bool, source io.Reader) []int {
	taken, places := make(map[int]bool, members), make([]int, 0, members)
	for top := size - 1 - members; top < size-1; top++ {
		drawn := belowSmall(top+1, source)
		if taken[drawn] {
			drawn = top
		}
		taken[drawn] = true
		places = append(places, drawn)
	}
	dropped := belowSmall(members, source) // drawn in either case, so that time tells nothing
	if holds {
		places[dropped] = places[members-1]
		places = places[:members-1]
	}
	for which, place := range places {
		if place >= at {
			places[which]++
		}
	}
	if holds {
		places = append(places, at)
	}
	sort.Ints(places)
	return places
}
