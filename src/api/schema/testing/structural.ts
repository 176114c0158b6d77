// Checks that a schema keeps the rules of structural schemas, so that a mistake is found here and not by the API server.
// Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema

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
const notInRe2 = /\(\?[=!<]|\\[1-9]/

type Node = { readonly [key: string]: unknown }

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Every violation as `path: problem`; an empty list means structural and bounded. */
export function structuralProblems(schema: unknown, path = ''): string[] {
  if (!isNode(schema)) return [`${path}: not a schema`]
  const problems: string[] = []
  const say = (problem: string): void => void problems.push(`${path || '.'}: ${problem}`)
  for (const keyword of forbiddenKeywords) if (keyword in schema) say(`${keyword} is not structural`)
  if (typeof schema['type'] !== 'string') say('type is missing')
  if (typeof schema['description'] !== 'string' && path !== '') say('description is missing')
  if (typeof schema['pattern'] === 'string') {
    if (notInRe2.test(schema['pattern'])) say('pattern does not compile in RE2')
    if (!schema['pattern'].startsWith('^')) say('pattern is not anchored')
  }
  if (schema['type'] === 'string' && !('enum' in schema) && !('maxLength' in schema)) say('a string without maxLength')
  if (schema['type'] === 'array') {
    if (!('maxItems' in schema)) say('a list without maxItems')
    problems.push(...structuralProblems(schema['items'], `${path}[]`))
  }
  if ('additionalProperties' in schema) {
    if ('properties' in schema) say('additionalProperties beside properties')
    if (!('maxProperties' in schema)) say('a map without maxProperties')
    problems.push(...structuralProblems(schema['additionalProperties'], `${path}{}`))
  }
  for (const [name, property] of Object.entries(isNode(schema['properties']) ? schema['properties'] : {}))
    problems.push(...structuralProblems(property, `${path}.${name}`))
  return problems
}
