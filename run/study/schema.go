package study

import (
	"encoding/json"
	"fmt"
	"strings"
)

// dialect is the version of JSON Schema that Schema writes.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// Schema returns the JSON Schema of study files, generated from the parser's specification.
func Schema(f Form) ([]byte, error) {
	root := f.file().schema()
	root["$schema"], root["title"] = dialect, "Filewise study file"
	all, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("schema of study files: %w", err)
	}
	return append(all, '\n'), nil
}

// schemaNode is a part of a JSON Schema.
type schemaNode = map[string]any

// withVariable returns a schema that also allows a variable as the value.
func withVariable(s schemaNode) schemaNode {
	return schemaNode{"anyOf": []any{s, schemaNode{"type": "string", "pattern": `\$\{[A-Za-z_][A-Za-z0-9_]*\}`}}}
}

// schema returns the JSON Schema of a place in the file.
func (s *spec) schema() schemaNode {
	out := s.plain()
	if s.usage != "" {
		out["description"] = strings.ReplaceAll(s.usage, "`", "")
	}
	if s.usual != "" {
		out["default"] = s.usual
	}
	return out
}

func (s *spec) plain() schemaNode {
	switch s.Type {
	case typeText:
		if len(s.choices) > 0 {
			return withVariable(schemaNode{"enum": s.choices})
		}
		if s.pattern != nil {
			return schemaNode{"type": "string", "pattern": s.pattern.String()}
		}
		return schemaNode{"type": []string{"string", "number", "boolean"}}
	case secret:
		return schemaNode{"type": "string", "pattern": `^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`}
	case typeTime:
		const pattern = `^[-+]?([0-9]*\.?[0-9]+(ns|us|µs|ms|s|m|h))+$|^0$`
		return withVariable(schemaNode{"anyOf": []any{schemaNode{"const": 0}, schemaNode{"type": "string", "pattern": pattern}}})
	case typeWhole:
		return withVariable(s.bounded("integer"))
	case typeNumber:
		return withVariable(s.bounded("number"))
	case typeSwitch:
		return withVariable(schemaNode{"type": "boolean"})
	case object:
		return s.objectSchema()
	case named:
		return schemaNode{"type": "object", "minProperties": 1, "additionalProperties": s.of.schema()}
	case items:
		return schemaNode{"type": "array", "minItems": 1, "items": s.of.schema()}
	case either:
		var all []any
		for _, e := range s.either {
			all = append(all, e.schema())
		}
		return schemaNode{"anyOf": all}
	}
	return schemaNode{} // anything
}

func (s *spec) bounded(kind string) schemaNode {
	out := schemaNode{"type": kind}
	if s.least != nil {
		out["minimum"] = *s.least
	}
	if s.most != nil {
		out["maximum"] = *s.most
	}
	return out
}

func (s *spec) objectSchema() schemaNode {
	properties := schemaNode{}
	for _, f := range s.fields {
		properties[f.name] = f.spec.schema()
	}
	out := schemaNode{"type": "object", "additionalProperties": false, "properties": properties}
	if len(s.required) > 0 {
		out["required"] = s.required
	}
	return out
}
