// Checks that a schema keeps the rules of structural schemas, is bounded and described, so that a mistake is found here and not
// by the API server or by a reader of `kubectl explain`. Used by tests only.
// Source:
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
import { asObject, isJsonObject, type JsonObject } from '../../../lib/json/json-value.ts'

const forbiddenKeywords = [
  '$ref',
  '$defs',
  'definitions',
  'const',
  'patternProperties',
  'propertyNames',
  'prefixItems',
  'uniqueItems',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
]
/** Schemas without a type. */
const isAnyType = ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-int-or-string']
const notInRe2 = /\(\?[=!<]|\\[1-9]/

function isText(schema: JsonObject): boolean {
  return schema['type'] === 'string' || 'x-kubernetes-int-or-string' in schema
}

/** Each rule with the problem that it reports. */
const rules: readonly (readonly [problem: string, violated: (schema: JsonObject) => boolean])[] = [
  ['type is missing', schema => typeof schema['type'] !== 'string' && !isAnyType.some(keyword => keyword in schema)],
  ['pattern does not compile in RE2', ({ pattern }) => typeof pattern === 'string' && notInRe2.test(pattern)],
  ['pattern is not anchored', ({ pattern }) => typeof pattern === 'string' && !pattern.startsWith('^')],
  ['a string without maxLength', schema => isText(schema) && !('enum' in schema) && !('maxLength' in schema)],
  ['a list without maxItems', schema => schema['type'] === 'array' && !('maxItems' in schema)],
  ['additionalProperties beside properties', schema => 'additionalProperties' in schema && 'properties' in schema],
  ['a map without maxProperties', schema => 'additionalProperties' in schema && !('maxProperties' in schema)],
]

/** A description is text for people: whole sentences. */
const sentence = /^[`A-Z].*[.]$/s

/** Every schema below `schema` (properties, list items, map values) with its path, itself included. */
export function schemasIn(schema: unknown, path = ''): readonly (readonly [path: string, schema: unknown])[] {
  if (!isJsonObject(schema)) return [[path, schema]]
  return [
    [path, schema],
    ...Object.entries(asObject(schema['properties']) ?? {}).flatMap(([name, property]) => schemasIn(property, `${path}.${name}`)),
    ...(schema['type'] === 'array' ? schemasIn(schema['items'], `${path}[]`) : []),
    ...('additionalProperties' in schema ? schemasIn(schema['additionalProperties'], `${path}{}`) : []),
  ]
}

/** The paths of all schemas without a description in whole sentences. */
export function undescribed(schema: unknown): readonly string[] {
  return schemasIn(schema)
    .filter(([, found]) => !sentence.test(String(asObject(found)?.['description'] ?? '')))
    .map(([path]) => path)
}

/** Every violation as `path: problem`; an empty list means structural and bounded. */
export function structuralProblems(schema: unknown): readonly string[] {
  return schemasIn(schema).flatMap(([path, found]) => {
    if (!isJsonObject(found)) return [`${path}: not a schema`]
    return [
      ...forbiddenKeywords.filter(keyword => keyword in found).map(keyword => `${path}: ${keyword} is not structural`),
      ...rules.filter(([, violated]) => violated(found)).map(([problem]) => `${path}: ${problem}`),
    ]
  })
}
