// Fields with a quantity as Kubernetes has it everywhere: a text such as `500m`, `512Mi`, `1.5Gi` or `512M`, or a whole number.
// A number with a fraction has to be a text (`'0.5'`): a CustomResourceDefinition knows no type that is both.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
import { type TUnsafe, Type } from 'typebox'
import { defined } from '../../lib/json/defined.ts'
import { type Quantity, quantityPattern } from '../../lib/text/quantity.ts'
import type { Rule } from './schema.ts'

/** `least` and `most`: bounds, both included, as Kubernetes writes them. */
type QuantityOptions = {
  readonly description: string
  readonly least: string
  readonly most: string
  readonly default?: string
}

/** The CEL quantity of a value that has passed the schema. A number costs no more than a text of bounded length. */
export function celQuantity(value: string): string {
  return `(type(${value}) == int ? quantity('0').add(${value}) : quantity(${value}))`
}

const longest = 20

function withinRule(least: string, most: string, unit: string): Rule {
  const value = celQuantity('self')
  return {
    rule: `${value}.compareTo(quantity('${least}')) >= 0 && ${value}.compareTo(quantity('${most}')) <= 0`,
    message: `must be from ${least} to ${most}; ${unit}`,
    reason: 'FieldValueInvalid',
  }
}

function field({ description, least, most, ...options }: QuantityOptions, unit: string): TUnsafe<Quantity> {
  return Type.Unsafe<Quantity>({
    description,
    'x-kubernetes-int-or-string': true,
    pattern: quantityPattern,
    maxLength: longest,
    minimum: 0,
    'x-kubernetes-validations': [withinRule(least, most, unit)],
    ...defined({ default: options.default }),
  })
}

/** CPU time, in cores. */
export function cores(options: Omit<QuantityOptions, 'least' | 'most'> & { readonly least?: string }): TUnsafe<Quantity> {
  return field({ least: '1m', most: '10k', ...options }, 'a number alone counts cores: write half a core as 500m')
}

/** Memory or disk space, in bytes. */
export function bytes(options: Omit<QuantityOptions, 'least' | 'most'> & { readonly most?: string }): TUnsafe<Quantity> {
  return field({ least: '1Mi', most: '1Pi', ...options }, 'a number alone counts bytes: write 512 mebibytes as 512Mi')
}
