// Who changed the spec of an Application: the value of the annotation `changedByAnnotation`, `<first>-<last> <user name>`. It says that every change of
// the spec from generation `first` to generation `last` was made by this user and by nobody else. Admission writes it into the same write as the
// change, and lets nobody write anything else; a change that it did not see leaves the value as it was, and `last` behind the generation. Pure.
import { integerAt, type JsonObject, objectAt, textAt } from '../../../lib/json/json-value.ts'
import { changedByAnnotation } from '../../names.ts'

/** In characters. The changes of a user with a longer name are not recorded. */
export const longestUserName = 512

/** Consecutive generations of the spec that one user made. */
export type ChangeRun = { readonly first: number; readonly last: number; readonly user: string }

/** The value that an object has; empty when it has none. */
export function changedByOf(object: JsonObject | undefined): string {
  return textAt(objectAt(object, 'metadata', 'annotations'), changedByAnnotation) ?? ''
}

/** 0 for an object that is not stored yet. */
export function generationOf(object: JsonObject | undefined): number {
  return integerAt(objectAt(object, 'metadata'), 'generation') ?? 0
}

/**
 * The value for a change of the spec by `user` that makes `generation`. `before`: the value until then. A user name may contain anything, so `before`
 * is compared as a whole and never taken apart behind its first hyphen.
 */
export function changedByText(before: string, generation: number, user: string): string {
  if ([...user].length > longestUserName) return ''
  const [first = ''] = before.split('-', 1)
  return before === `${first}-${generation - 1} ${user}`
    ? `${first}-${generation} ${user}`
    : `${generation}-${generation} ${user}`
}

/** Undefined for what is not such a value. */
export function changeRun(text: string): ChangeRun | undefined {
  const [, first, last, user] = /^([1-9][0-9]{0,14})-([1-9][0-9]{0,14}) (.+)$/su.exec(text) ?? []
  return first && last && user ? { first: Number(first), last: Number(last), user } : undefined
}
