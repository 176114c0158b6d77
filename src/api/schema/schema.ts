// Builders that can only express structural schemas (Kubernetes CRD rules): one source for static type, validation and CRD.
// Everything an outsider sizes must be bounded here: the bounds are part of the builders' signatures (CEL cost needs them too).
// Source:
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema

import { type Static, type TSchema, type TUnsafe, Type } from 'typebox'
import { defined } from '../../lib/json/defined.ts'
import { celList } from '../../lib/text/cel.ts'

export type { Static, TSchema }

/** A CEL rule as the API server takes it; `message` names the field and how to correct it. */
export type Rule = {
  readonly rule: string
  readonly message: string
  readonly reason?: 'FieldValueForbidden' | 'FieldValueInvalid' | 'FieldValueRequired' | 'FieldValueDuplicate'
  readonly fieldPath?: string
  /** `oldSelf` is then an optional value, and the rule is evaluated for new objects, too. */
  readonly optionalOldSelf?: true
}

/** What every schema has: the text that `kubectl explain` shows (sentences, with units), and CEL rules on the value. */
type Common = { readonly description: string; readonly rules?: readonly Rule[] }

function common(options: Common): Record<string, unknown> {
  return { description: options.description, ...(options.rules ? { 'x-kubernetes-validations': options.rules } : {}) }
}

type ObjectOptions = Common & {
  /** The object may be left out: the API server then writes `{}` and the defaults of its properties. */
  readonly default?: Readonly<Record<string, never>>
}

/** An object with exactly these properties; all are required unless wrapped in `optional`. */
export function object<P extends Record<string, TSchema>>(properties: P, options: ObjectOptions) {
  return Type.Object(properties, { ...common(options), ...defined({ default: options.default }) })
}

/**
 * A copy of an object's schema without some properties and without the rules about several of them; `T` is the type that is
 * left.
 */
export function withoutProperties<T>(schema: TSchema, names: readonly string[], options: Common): TUnsafe<T> {
  const { properties } = schema as TSchema & { readonly properties: Readonly<Record<string, TSchema>> }
  const left = Object.entries(properties).filter(([name]) => !names.includes(name))
  return Type.Unsafe<T>(object(Object.fromEntries(left), options))
}

/**
 * Marks a property of `object` that may be absent. A property with a default is not optional: whoever reads it always finds it.
 */
export function optional<S extends TSchema>(schema: S) {
  return Type.Optional(schema)
}

type TextOptions = Common & {
  readonly max: number
  readonly min?: number
  /** Must compile in RE2 (no look-around, no back-references) and be anchored. */
  readonly pattern?: string
  readonly format?: 'date-time'
  readonly default?: string
}

/** A string of `min` (1 unless given) to `max` characters. */
export function text(options: TextOptions) {
  return Type.String({
    ...common(options),
    minLength: options.min ?? 1,
    maxLength: options.max,
    ...defined({ pattern: options.pattern, format: options.format, default: options.default }),
  })
}

/** A whole number from `min` to `max`, both included. */
export function integer(options: Common & { readonly min: number; readonly max: number; readonly default?: number }) {
  return Type.Integer({
    ...common(options),
    format: 'int64',
    minimum: options.min,
    maximum: options.max,
    ...defined({ default: options.default }),
  })
}

/** True or false. */
export function flag(options: Common & { readonly default?: boolean }) {
  return Type.Boolean({ ...common(options), ...defined({ default: options.default }) })
}

/** One of a closed set of words. The API server's refusal lists them. */
export function choice<const V extends readonly [string, ...string[]]>(
  values: V,
  options: Common & { readonly default?: V[number] },
): TUnsafe<V[number]> {
  return Type.Unsafe<V[number]>({
    type: 'string',
    enum: [...values],
    ...common(options),
    ...defined({ default: options.default }),
  })
}

/**
 * One of the words that this version supports, of a set that later versions may extend. It is a rule and not an `enum`, so that
 * the refusal says so: the API server's own message for an `enum` cannot be changed, and a failed `enum` stops the evaluation
 * of rules (`hasBlockingErr` in k8s.io/apiextensions-apiserver/pkg/registry/customresource/strategy.go).
 */
export function choiceOfThisVersion<const V extends readonly [string, ...string[]]>(
  values: V,
  options: { readonly description: string; readonly default?: V[number] },
): TUnsafe<V[number]> {
  const rule = {
    rule: `self in ${celList(values)}`,
    message: `not in this version: use ${values.join(' or ')}`,
    reason: 'FieldValueInvalid',
  } as const
  return Type.Unsafe<V[number]>(text({ ...options, max: 63, rules: [rule] }))
}

type ListOptions = Common & {
  readonly max: number
  readonly min?: number
  /** `set`: no duplicates; a list of keys: a map by those fields (server-side apply merges by them). */
  readonly unique?: 'set' | readonly string[]
}

/** A list of at most `max` items. */
export function list<S extends TSchema>(items: S, options: ListOptions) {
  const listType =
    options.unique === undefined
      ? { 'x-kubernetes-list-type': 'atomic' }
      : options.unique === 'set'
        ? { 'x-kubernetes-list-type': 'set' }
        : { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [...options.unique] }
  return Type.Array(items, {
    ...common(options),
    ...listType,
    maxItems: options.max,
    ...defined({ minItems: options.min }),
  })
}

/** Free keys, one type of value. Keys are bounded by `max` entries; their shape is checked by a rule where it matters. */
export function map<S extends TSchema>(
  values: S,
  options: Common & { readonly max: number; readonly default?: Readonly<Record<string, never>> },
): TUnsafe<Record<string, Static<S>>> {
  return Type.Unsafe<Record<string, Static<S>>>({
    type: 'object',
    additionalProperties: values,
    maxProperties: options.max,
    ...common(options),
    ...defined({ default: options.default }),
  })
}

/** None or one of the named optional members is set. */
export function atMostOneOf(members: readonly string[], message: string): Rule {
  return {
    rule: `[${members.map(member => `has(self.${member})`).join(', ')}].filter(x, x).size() <= 1`,
    message,
    reason: 'FieldValueInvalid',
  }
}

/**
 * Any JSON, of which the API server examines nothing, so that no refusal of its repeats what is in it. Only for a field that
 * admission replaces before anything is stored, in an `openObject`.
 */
export function unexamined(options: Common): TUnsafe<unknown> {
  return Type.Unsafe<unknown>({ 'x-kubernetes-preserve-unknown-fields': true, ...common(options) })
}

/**
 * An object that is sent with more fields than it is stored with: admission replaces the others, and without it the object is
 * refused, because what is stored must have the required properties and nothing beside them. A field that nobody knows reaches
 * admission, too: the API server's own refusal would repeat the whole object, also in its audit log.
 */
export function openObject<P extends Record<string, TSchema>>(properties: P, options: Common & { readonly stored: number }) {
  const { stored } = options
  return Type.Object(properties, { ...common(options), 'x-kubernetes-preserve-unknown-fields': true, maxProperties: stored })
}

/** Exactly one of the named optional members is set (instead of a non-structural oneOf). */
export function exactlyOneOf(members: readonly string[], message: string): Rule {
  return {
    rule: `[${members.map(member => `has(self.${member})`).join(', ')}].filter(x, x).size() == 1`,
    message,
    reason: 'FieldValueInvalid',
  }
}
