// Turns a kind definition into the CustomResourceDefinition that is installed. Pure. `npm run generate` writes the result to
// deploy/crds, where it is committed.
import { type KindDefinition, version } from '../kind.ts'
import { immutableFields } from './immutable-fields.ts'

/** The schema as the API server takes it: TypeBox's symbols do not survive JSON. */
function plain(schema: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema, withoutDefaultedRequired)) as Record<string, unknown>
}

/** The field that the mutating webhook fills in (ADR 0011). kubectl must not demand it, so a rule stands in for `required`. */
const filledIn = 'requestedBy'

function filledInRules(spec: Record<string, unknown>): readonly object[] {
  const required = spec['required']
  if (!Array.isArray(required) || !required.includes(filledIn)) return []
  spec['required'] = required.filter(name => name !== filledIn)
  const message = `spec.${filledIn} is missing: the platform fills it in while its admission webhook is registered and runs`
  return [{ rule: `has(self.${filledIn})`, message, reason: 'FieldValueRequired', fieldPath: `.${filledIn}` }]
}

/**
 * A field with a default is always present when an object is read, and may be omitted when it is written. The API server fills
 * defaults in before it checks `required`; kubectl checks `required` itself for the members of a `kind: List`, without
 * defaults.
 */
function withoutDefaultedRequired(_key: string, value: unknown): unknown {
  if (!isSchemaWithRequired(value)) return value
  const required = value.required.filter(name => value.properties[name]?.default === undefined)
  const { required: _, ...rest } = value
  return required.length === 0 ? rest : { ...value, required }
}

type SchemaWithRequired = {
  readonly required: readonly string[]
  readonly properties: Readonly<Record<string, { readonly default?: unknown } | undefined>>
}

function isSchemaWithRequired(value: unknown): value is SchemaWithRequired {
  return (
    typeof value === 'object' && value !== null && 'properties' in value && 'required' in value && Array.isArray(value.required)
  )
}

function immutableRules(definition: KindDefinition): readonly object[] {
  const { immutableSpec, kind } = definition.options
  if (immutableSpec === undefined) return []
  const reason = 'FieldValueForbidden'
  if (immutableSpec === true)
    return [{ rule: 'self == oldSelf', message: `spec of ${kind} cannot change: delete it and create another`, reason }]
  // A rule on an optional field does not run when the field comes or goes, so all are rules on the object.
  const unchanged = (name: string): string =>
    `has(self.${name}) == has(oldSelf.${name}) && (!has(self.${name}) || self.${name} == oldSelf.${name})`
  const rule = immutableFields(definition).map(unchanged).join(' && ')
  if ('except' in immutableSpec)
    return [{ rule, message: `spec of ${kind} cannot change, except ${immutableSpec.except.join(' and ')}`, reason }]
  const { setOnce } = immutableSpec
  return [
    { rule, message: `spec of ${kind} cannot change, except that ${setOnce} is added`, reason },
    { rule: `!has(oldSelf.${setOnce}) || (${unchanged(setOnce)})`, message: `${setOnce} cannot change any more`, reason },
  ]
}

/** The complete manifest. Its schema is structural when the builders of `schema.ts` made the parts. */
export function customResourceDefinition(definition: KindDefinition): Record<string, unknown> {
  const { options } = definition
  const spec = plain(definition.specSchema)
  const rules = [
    ...immutableRules(definition),
    ...filledInRules(spec),
    ...((spec['x-kubernetes-validations'] as unknown[] | undefined) ?? []),
  ]
  if (rules.length > 0) spec['x-kubernetes-validations'] = rules
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${options.plural}.${definition.group}`, labels: { 'app.kubernetes.io/part-of': 'sekisho' } },
    spec: {
      group: definition.group,
      scope: options.scope,
      names: {
        kind: options.kind,
        listKind: `${options.kind}List`,
        plural: options.plural,
        singular: options.kind.toLowerCase(),
        shortNames: options.shortNames,
        // kubectl lists every kind of a category and fails when the person may not read one: `sekisho` has what a tenant may
        // read.
        categories: options.scope === 'Namespaced' ? ['sekisho', 'sekisho-platform'] : ['sekisho-platform'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {}, ...(options.scale ? { scale: options.scale } : {}) },
          additionalPrinterColumns: options.columns,
          ...(options.selectableFields ? { selectableFields: options.selectableFields.map(jsonPath => ({ jsonPath })) } : {}),
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description: options.description,
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string', description: `The API group and version: \`${definition.apiVersion}\`.` },
                kind: { type: 'string', description: `The kind: \`${options.kind}\`.` },
                // The API server forbids a description here and shows its own.
                metadata: { type: 'object' },
                spec,
                status: plain(definition.statusSchema),
              },
              ...(options.rules ? { 'x-kubernetes-validations': options.rules } : {}),
            },
          },
        },
      ],
    },
  }
}
