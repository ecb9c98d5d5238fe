package tinct

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"testing"
)

// eights gives the beginning of every eight bytes, as the vectors are written.
type eights struct{ left []byte }

func (source *eights) Read(into []byte) (int, error) {
	if len(source.left) < 8 {
		return 0, fmt.Errorf("more bytes were read than the vector has")
	}
	count := copy(into, source.left[:8])
	source.left = source.left[8:]
	return count, nil
}

func TestVectors(t *testing.T) {
	var vectors struct {
		Mechanisms []struct {
			Name, File, ID string
			Draws          []struct {
				Symbol           any
				Bytes            string
				Report, Envelope json.RawMessage
			}
		}
		Refused       []struct{ Why, File string }
		RefusedChains []struct{ Why, File string } `json:"refused_chains"`
		Chains        []struct {
			Name, File      string
			RefusedMemories []string `json:"refused_memories"`
			Steps           []struct {
				Symbol        any
				Bytes, Memory string
				Report        json.RawMessage
			}
		}
	}
	text, err := os.ReadFile("../vectors.json")
	if err == nil {
		err = json.Unmarshal(text, &vectors)
	}
	if err != nil || len(vectors.Mechanisms) < 10 || len(vectors.Refused) < 20 {
		t.Fatal("vectors.json cannot be read", err)
	}
	for _, each := range vectors.Mechanisms {
		mechanism, err := Read([]byte(each.File), nil)
		if err != nil {
			t.Fatal(each.Name, err)
		}
		if mechanism.ID() != each.ID {
			t.Error(each.Name, mechanism.ID(), each.ID)
		}
		for _, draw := range each.Draws {
			stream, _ := hex.DecodeString(draw.Bytes)
			report, err := mechanism.PrivatizeFrom(draw.Symbol, &eights{stream})
			same(t, each.Name, report, err, draw.Report)
			source := &eights{stream}
			sent, err := mechanism.ReportFrom(draw.Symbol, source)
			same(t, each.Name, sent, err, draw.Envelope)
			if len(source.left) > 0 {
				t.Error(each.Name, "fewer bytes were read than the vector has")
			}
		}
		if _, err := mechanism.Report("nobody"); err == nil {
			t.Error(each.Name, "took an answer that is no symbol")
		}
		if _, err := mechanism.Report(each.Draws[0].Symbol); err != nil {
			t.Error(each.Name, err)
		}
		if _, err := Read([]byte(each.File), &Limit{Epsilon: "0.01"}); err == nil {
			t.Error(each.Name, "was read beyond its limit")
		}
	}
	for _, each := range vectors.Chains {
		chain, err := ReadChain([]byte(each.File), "", "")
		if err != nil {
			t.Fatal(each.Name, err)
		}
		memory := ""
		for _, step := range each.Steps {
			stream, _ := hex.DecodeString(step.Bytes)
			source := &eights{stream}
			sent, after, err := chain.AnswerFrom(step.Symbol, memory, source)
			same(t, each.Name, sent, err, step.Report)
			if after != step.Memory || len(source.left) > 0 {
				t.Error(each.Name, after, step.Memory, len(source.left))
			}
			memory = after
		}
		for _, forged := range each.RefusedMemories {
			if _, _, err := chain.Answer(each.Steps[0].Symbol, forged); err == nil && forged != "" {
				t.Error(each.Name, "took the memory", forged)
			}
		}
		if _, _, err := chain.Answer(each.Steps[0].Symbol, memory); err != nil {
			t.Error(each.Name, err)
		}
		if _, err := ReadChain([]byte(each.File), "0.9", ""); err == nil {
			t.Error(each.Name, "was read beyond its limit")
		}
	}
	if len(vectors.Chains) < 4 || len(vectors.RefusedChains) < 30 {
		t.Error("chains are missing")
	}
	for _, each := range vectors.RefusedChains {
		if _, err := ReadChain([]byte(each.File), "", ""); err == nil {
			t.Error("not refused:", each.Why)
		}
	}
	for _, each := range vectors.Refused {
		if _, err := Read([]byte(each.File), nil); err == nil {
			t.Error("not refused:", each.Why)
		}
	}
}

func same(t *testing.T, name string, got any, err error, expected json.RawMessage) {
	t.Helper()
	var first, second any
	text, _ := json.Marshal(got)
	_ = json.Unmarshal(text, &first)
	_ = json.Unmarshal(expected, &second)
	if err != nil || !reflect.DeepEqual(first, second) {
		t.Error(name, err, string(text), string(expected))
	}
}

// TestJudge says what is wrong with each of the files that a list in JSON names, for comparison with other readers.
func TestJudge(t *testing.T) {
	given := os.Getenv("TINCT_FORGERIES")
	if given == "" {
		t.Skip("no files are given")
	}
	text, err := os.ReadFile(given)
	var files [][]byte // Base64: they need not be UTF-8
	if err == nil {
		err = json.Unmarshal(text, &files)
	}
	if err != nil {
		t.Fatal(err)
	}
	verdicts := make([]string, len(files))
	for at, file := range files {
		if _, err := Read(file, nil); err != nil {
			verdicts[at] = err.Error()
		}
	}
	var written bytes.Buffer
	_ = json.NewEncoder(&written).Encode(verdicts)
	if err := os.WriteFile(given+".verdicts", written.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
