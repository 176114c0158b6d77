// docs/reference/kinds.md: every kind with its fields, rules, conditions and reasons, from the CustomResourceDefinitions as
// they are installed.
import { parse } from 'yaml'
import type { KindDefinition, TenantAccess } from '../../../src/api/kind.ts'
import type { ReasonClass } from '../../../src/api/reasons/reason.ts'
import { kinds } from '../../../src/api/registry.ts'
import { customResourceDefinition } from '../../../src/api/schema/crd.ts'
import { asObject, isJsonObject, type JsonObject, listAt, objectAt, objectsAt, textAt } from '../../../src/lib/json/json-value.ts'
import { kebabCase } from '../../../src/lib/text/kebab-case.ts'
import { defaultGrantRules } from '../../../src/policy/grant-rule.ts'
import { code, page, table } from '../markdown.ts'

/** Reads an example manifest by its path in the repository. */
export type ReadExample = (path: string) => string

/** What `deploy/examples/shop` has is not shown twice. */
const inShop: readonly string[] = ['Application', 'RemoteSync']

/**
 * Where the example of a kind is. `kinds.test.ts` validates it against the schema, test/integration/crds.test.ts on an API
 * server.
 */
export function examplePath(kind: string): string {
  return `deploy/examples/${inShop.includes(kind) ? 'shop' : 'kinds'}/${kebabCase(kind)}.yaml`
}

type Field = { readonly path: string; readonly schema: JsonObject; readonly required: boolean }

/** The fields below a schema in the order of the definition, parents first. */
function fieldsIn(schema: JsonObject, path: string): readonly Field[] {
  const required = listAt(schema, 'required')
  const children: Field[] = Object.entries(asObject(schema['properties']) ?? {}).map(([name, property]) => ({
    path: `${path}.${name}`,
    schema: asObject(property) ?? {},
    required: required.includes(name),
  }))
  for (const [keyword, suffix] of [
    ['items', '[]'],
    ['additionalProperties', '.*'],
  ] as const) {
    const inner = schema[keyword]
    if (isJsonObject(inner)) children.push({ path: `${path}${suffix}`, schema: inner, required: false })
  }
  return children.flatMap(child => [child, ...fieldsIn(child.schema, child.path)])
}

function range(minimum: unknown, maximum: unknown): string {
  return minimum === maximum ? String(maximum) : `${minimum ?? 0}–${maximum}`
}

/** The words of a closed set, whether the schema or a rule closes it. */
function choicesOf(schema: JsonObject): readonly string[] {
  const [rule] = objectsAt(schema, 'x-kubernetes-validations')
  const words = /^self in \[(.*)\]$/.exec(textAt(rule, 'rule') ?? '')?.[1]?.split(', ') ?? []
  return [...listAt(schema, 'enum').map(String), ...words.map(word => word.replaceAll("'", ''))]
}

function textType(schema: JsonObject): string {
  const choices = choicesOf(schema)
  if (choices.length > 0)
    return choices
      .map(code)
      .join(', ')
      .replace(/, ([^,]*)$/, ' or $1')
  if (schema['format'] === 'date-time') return 'time (RFC 3339)'
  const pattern = textAt(schema, 'pattern')
  const length = `string, ${range(schema['minLength'], schema['maxLength'])} characters`
  return pattern === undefined ? length : `${length}, matches ${code(pattern)}`
}

function listType(schema: JsonObject): string {
  const keys = listAt(schema, 'x-kubernetes-list-map-keys')
  const unique = schema['x-kubernetes-list-type'] === 'set' ? ', no duplicates' : ''
  const key = keys.length === 0 ? '' : `, unique by ${keys.map(name => code(String(name))).join(' and ')}`
  return `list, ${range(schema['minItems'], schema['maxItems'])} items${unique}${key}`
}

function typeOf(schema: JsonObject): string {
  switch (schema['type']) {
    case 'string':
      return textType(schema)
    case 'integer':
      return schema['maximum'] === Number.MAX_SAFE_INTEGER ? 'integer' : `integer, ${range(schema['minimum'], schema['maximum'])}`
    case 'array':
      return listType(schema)
    case 'object':
      return 'additionalProperties' in schema ? `map, up to ${schema['maxProperties']} entries` : 'object'
    case 'boolean':
      return '`true` or `false`'
    case undefined:
      if (schema['x-kubernetes-int-or-string'] === true) return 'quantity'
      return 'anything; admission examines it'
    default:
      throw new Error(`no words for a field of type ${String(schema['type'])}`)
  }
}

/** Whether a field is required is said of the spec only: nobody but the platform writes a status. */
function fieldTable(fields: readonly Field[]): string {
  return table(
    ['Field', 'Type', 'Required', 'Default', 'Description'],
    fields.map(({ path, schema, required }) => [
      code(path),
      typeOf(schema),
      required && path.startsWith('spec.') ? 'yes' : '',
      schema['default'] === undefined ? '' : code(JSON.stringify(schema['default'])),
      textAt(schema, 'description') ?? '',
    ]),
  )
}

function ruleTable(root: JsonObject, fields: readonly Field[]): string {
  const all: readonly Field[] = [{ path: 'spec', schema: root, required: true }, ...fields]
  const rows = all.flatMap(({ path, schema }) =>
    objectsAt(schema, 'x-kubernetes-validations').map(rule => [
      code(`${path}${textAt(rule, 'fieldPath') ?? ''}`),
      textAt(rule, 'message') ?? '',
      code(textAt(rule, 'rule') ?? ''),
    ]),
  )
  return table(['Field', 'Message', 'CEL rule'], rows)
}

function entries(headings: readonly [string, string], texts: Readonly<Record<string, string>>): string {
  return table(
    headings,
    Object.entries(texts).map(([name, text]) => [code(name), text]),
  )
}

/** What each class of reasons is called on the page, and what it means. */
const classTexts: Readonly<Record<ReasonClass, { readonly name: string; readonly says: string }>> = {
  ready: { name: 'ready', says: 'It is so.' },
  progress: { name: 'progress', says: 'The platform goes on by itself.' },
  machine: {
    name: 'waits for a machine',
    says: 'Something else must answer first: GitHub, a registry, the builder or the cluster. The platform tries again.',
  },
  person: { name: 'waits for a person', says: 'It goes on when somebody grants, creates, deletes or corrects something.' },
  failed: { name: 'failed', says: 'Nothing comes of this commit and this spec: it needs another one.' },
  intended: { name: 'intended', says: 'Somebody wants it so. Nothing is wrong.' },
}

function reasonTable({ reasons }: KindDefinition): string {
  return table(
    ['Reason', 'Class', 'Meaning'],
    [...reasons].map(([name, { class: of, says }]) => [code(name), classTexts[of].name, says]),
  )
}

const accessTexts: Readonly<Record<TenantAccess, string>> = {
  read: 'viewers, developers and admins of the tenant read',
  'create-delete': 'viewers of the tenant read; developers and admins also create and delete',
  'create-change-by-admin': 'viewers and developers of the tenant read; admins also create and lift; the platform deletes',
  'create-delete-by-admin': 'viewers and developers of the tenant read; admins also create, and delete their own',
  'write-by-admin': 'viewers and developers of the tenant read; admins also create, change and delete',
  write: 'viewers of the tenant read; developers and admins also create, change and delete',
}

function changesOf(immutable: KindDefinition['options']['immutableSpec']): string {
  if (immutable === undefined) return ''
  if (immutable === true) return 'not allowed: delete the object and create another one'
  if ('except' in immutable) return `not allowed, except of ${immutable.except.map(code).join(', ')}`
  return `not allowed, except that ${code(immutable.setOnce)} is added`
}

function facts({ options, group, apiVersion }: KindDefinition): string {
  const names = [options.plural, options.kind.toLowerCase(), ...options.shortNames].map(code).join(', ')
  const selectable = (options.selectableFields ?? []).map(path => code(path.slice(1)))
  const rows = [
    ['API version', code(apiVersion)],
    ['Names for kubectl', `${names}; in full ${code(`${options.plural}.${group}`)}`],
    ['Scope', options.scope === 'Cluster' ? 'cluster' : 'namespace'],
    ['Written by', options.writtenBy],
    ['Access of tenants', options.tenantAccess === undefined ? 'none' : accessTexts[options.tenantAccess]],
    ['Changes of `spec`', changesOf(options.immutableSpec)],
    ['Field selectors', selectable.join(', ')],
  ]
  return table(
    ['Property', 'Value'],
    rows.filter(([, value]) => value !== ''),
  )
}

function exampleOf({ options }: KindDefinition, read: ReadExample): string {
  const path = examplePath(options.kind)
  const text = read(path)
  if (asObject(parse(text))?.['kind'] !== options.kind) throw new Error(`${path} is not a ${options.kind}`)
  return `\`\`\`yaml\n${text.trim()}\n\`\`\``
}

/** The schema of whole objects of a kind, as the API server gets it. */
export function installedSchema(kind: KindDefinition): JsonObject {
  const [version] = objectsAt(objectAt(customResourceDefinition(kind), 'spec'), 'versions')
  return objectAt(version, 'schema', 'openAPIV3Schema') ?? {}
}

const commonStatus = /^status\.(observedGeneration|conditions)/

function kindSection(kind: KindDefinition, read: ReadExample): string {
  const { options } = kind
  const schema = installedSchema(kind)
  const spec = objectAt(schema, 'properties', 'spec') ?? {}
  const specFields = fieldsIn(spec, 'spec')
  const statusFields = fieldsIn(objectAt(schema, 'properties', 'status') ?? {}, 'status').filter(
    ({ path }) => !commonStatus.test(path),
  )
  const rules = ruleTable(spec, specFields)
  const columns = options.columns.map(({ name, jsonPath, priority }) => [
    name,
    code(jsonPath),
    priority === 1 ? 'with `-o wide` only' : 'always',
  ])
  return [
    `## ${options.kind}`,
    options.description,
    facts(kind),
    '### Example',
    exampleOf(kind, read),
    '### Spec',
    fieldTable(specFields),
    rules === '' ? '' : `Further rules, with the message of the API server:\n\n${rules}`,
    '### Status',
    fieldTable(statusFields),
    '### Conditions',
    entries(['Condition', '`True` means'], options.conditions),
    '### Reasons',
    reasonTable(kind),
    '### Columns of `kubectl get`',
    table(['Column', 'Field', 'Shown'], columns),
  ]
    .filter(part => part !== '')
    .join('\n\n')
}

function commonSection(): string {
  const [first] = kinds
  if (first === undefined) return ''
  const status = objectAt(installedSchema(first), 'properties', 'status') ?? {}
  const fields = fieldsIn(status, 'status').filter(({ path }) => commonStatus.test(path))
  return `## Status of all kinds

Every kind has these fields in its status, besides those in its own section.

${fieldTable(fields)}

### Classes of reasons

A reason has one class, whichever kind says it. Events, the states of previews, reports on GitHub, the pages and \`sekisho why\` derive from it.

${table(
  ['Class', 'Meaning'],
  Object.values(classTexts).map(({ name, says }) => [name, says]),
)}`
}

function policySection(): string {
  const rows = defaultGrantRules.map(({ id, effect, subject, permission, level }) => [
    code(id),
    effect === 'allow' ? `allows up to ${code(level)}` : `forbids from ${code(level)} on`,
    permission === '*' ? 'every permission' : code(permission),
    subject === '*' ? 'every subject' : code(subject),
  ])
  return `## Policy for RepositoryGrants

A grant is approved when a rule allows each of its permissions for each of its subjects, and no rule forbids one. A rule that forbids wins over
a rule that allows. \`status.rule\` of a grant names the rule or the check that decided.

${table(['Rule', 'Effect', 'Permission', 'Subject'], rows)}`
}

/** The page as Markdown. Throws when a kind has no example. */
export function kindsPage(read: ReadExample): string {
  return page({
    title: 'Kinds',
    subject: 'This page lists the Kubernetes kinds of Sekisho with all of their fields, rules, conditions and reasons.',
    source: '`src/api` and `deploy/examples`',
    sections: [
      '`kubectl explain <kind>` shows the same descriptions. `kubectl get sekisho` lists what a tenant has in its namespace, `kubectl get sekisho-platform -A` the objects of all kinds, for platform admins. Fields marked as required must be set; a field with a default may be omitted. `[]` stands for each item of a list, `.*` for each value of a map.',
      table(
        ['Kind', 'Scope', 'Description'],
        kinds.map(({ options }) => [
          `[${options.kind}](#${options.kind.toLowerCase()})`,
          options.scope === 'Cluster' ? 'cluster' : 'namespace',
          options.description,
        ]),
      ),
      ...kinds.map(kind => kindSection(kind, read)),
      commonSection(),
      policySection(),
    ],
  })
}
