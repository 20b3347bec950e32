package store

import (
	"encoding"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/experiment"
)

// ExportJSONSchema writes the JSON Schema (draft 2020-12) of what ExportJSON writes.
// It is made of the very types, so that it cannot be another.
func ExportJSONSchema(w io.Writer) error {
	b := builder{defs: map[string]any{}}
	root := b.object(reflect.TypeFor[exported]())
	properties := root["properties"].(map[string]any)
	properties["format"] = map[string]any{"const": ExportFormat}
	properties["schema"] = map[string]any{"const": ExportSchema}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "A run of Filewise, as filewise export --format json writes it"
	root["description"] = "Every field is described in store/EXPORT.md. Names that end in _ns are nanoseconds."
	root["$defs"] = b.defs
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(root)
}

// builder makes schemas of types, by the rules of encoding/json.
type builder struct{ defs map[string]any }

// choices are the values of types that have few.
var choices = map[reflect.Type][]string{
	reflect.TypeFor[State]():             {string(Running), string(Done), string(Interrupted), string(Failed)},
	reflect.TypeFor[filewise.State]():    {string(filewise.Done), string(filewise.Failed)},
	reflect.TypeFor[filewise.Mode]():     {string(filewise.Embedded), string(filewise.Managed), string(filewise.External)},
	reflect.TypeFor[experiment.Ending](): {string(experiment.Decided), string(experiment.Futile), string(experiment.Spent), string(experiment.Broken)},
}

var textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()

func (b builder) of(t reflect.Type) map[string]any {
	switch {
	case t.Kind() == reflect.Pointer:
		return orNull(b.of(t.Elem()))
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t.Implements(textMarshaler):
		return map[string]any{"type": "string"}
	case choices[t] != nil:
		return map[string]any{"enum": choices[t]}
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Map:
		return orNull(map[string]any{"type": "object", "additionalProperties": b.of(t.Elem())})
	case reflect.Array:
		return map[string]any{"type": "array", "items": b.of(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return orNull(map[string]any{"type": "string", "contentEncoding": "base64"})
		}
		return orNull(map[string]any{"type": "array", "items": b.of(t.Elem())})
	case reflect.Struct:
		return b.reference(t)
	}
	panic("no JSON form of " + t.String()) // found by the first test
}

// orNull is for what encoding/json writes as null where there is none.
func orNull(s map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{s, map[string]any{"type": "null"}}}
}

// reference names a struct's schema, which is made once.
func (b builder) reference(t reflect.Type) map[string]any {
	name := strings.ReplaceAll(strings.TrimPrefix(t.String(), "store."), ".", "-")
	if _, made := b.defs[name]; !made {
		b.defs[name] = nil // while it is made
		b.defs[name] = b.object(t)
	}
	return map[string]any{"$ref": "#/$defs/" + name}
}

// object is a struct's schema: its fields and no others.
func (b builder) object(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for name, f := range jsonFields(t) {
		properties[name] = b.of(f.Type)
		_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero"); {
		case !optional:
			required = append(required, name)
		case slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, f.Type.Kind()):
			properties[name] = b.of(f.Type)["anyOf"].([]any)[0] // left out, never null
		}
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// jsonFields are the fields by their names in JSON; of one name the outermost.
func jsonFields(t reflect.Type) map[string]reflect.StructField {
	out := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() || f.Anonymous && name == "" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if other, taken := out[name]; !taken || len(f.Index) < len(other.Index) {
			out[name] = f
		}
	}
	return out
}
