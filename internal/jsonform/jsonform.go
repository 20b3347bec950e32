// Package jsonform derives a document's JSON Schema from the very Go types that are encoded, so that they cannot
// differ.
package jsonform

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Types holds the schemas of types whose JSON does not follow from their kind.
type Types = map[reflect.Type]*jsonschema.Schema

var usual = Types{
	reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
	reflect.TypeFor[[]byte]():          {Types: []string{"null", "string"}, ContentEncoding: "base64"},
	reflect.TypeFor[json.RawMessage](): {},
}

// Unknown makes numbers null if they are not known.
var Unknown = Types{reflect.TypeFor[float64](): {Types: []string{"null", "number"}}}

// OneOf returns the schema of a text with one of these values.
func OneOf[T any](values ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return s
}

// Of returns the schema (draft 2020-12) of a document with one of these forms.
func Of(title, description string, special Types, forms ...reflect.Type) (*jsonschema.Schema, error) {
	types := maps.Clone(usual)
	maps.Copy(types, special)
	root := &jsonschema.Schema{}
	for _, form := range forms {
		s, err := jsonschema.ForType(form, &jsonschema.ForOptions{TypeSchemas: types})
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", title, err)
		}
		root.AnyOf = append(root.AnyOf, s)
	}
	if len(root.AnyOf) == 1 {
		root = root.AnyOf[0]
	}
	root.Schema, root.Title, root.Description = "https://json-schema.org/draft/2020-12/schema", title, description
	return root, nil
}

func Write(w io.Writer, s *jsonschema.Schema) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(s)
}
