// Who changed the spec of an Application: the value of the annotation `changedByAnnotation`, `<first>-<last>[@<login>] <user
// name>`. It says that every change of the spec from generation `first` to generation `last` was made by this user and by
// nobody else, with this login at that time. Admission writes it into the same write as the change, and lets nobody write
// anything else; a change that it did not see leaves the value as it was, and `last` behind the generation. Pure.
import { integerAt, type JsonObject, objectAt, textAt } from '../../../lib/json/json-value.ts'
import { changedByAnnotation } from '../../names.ts'

/** In characters. The changes of a user with a longer name are not recorded. */
export const maxUserName = 512

const login = '[A-Za-z0-9_-]{1,100}'
/**
 * A login of GitHub, also one of an enterprise: it never has a space, which ends it in the value. RE2 and JavaScript read it
 * alike.
 */
export const loginPattern = `^${login}$`
const wholeLogin = new RegExp(loginPattern)
const number = '[1-9][0-9]{0,14}'
const wholeRun = new RegExp(`^(${number})-(${number})(?:@(${login}))? (.+)$`, 'su')

/**
 * Who makes a change. `login`: what the API server says about a person who signed in with GitHub; undefined for everybody else.
 */
export type Changer = { readonly user: string; readonly login: string | undefined }

/** Consecutive generations of the spec that one user made. `login`: for display only. */
export type ChangeRun = Changer & { readonly first: number; readonly last: number }

/** The value that an object has; empty when it has none. */
export function changedByOf(object: JsonObject | undefined): string {
  return textAt(objectAt(object, 'metadata', 'annotations'), changedByAnnotation) ?? ''
}

/** 0 for an object that is not stored yet. */
export function generationOf(object: JsonObject | undefined): number {
  return integerAt(objectAt(object, 'metadata'), 'generation') ?? 0
}

/**
 * The value for a change of the spec that makes `generation`. `before`: the value until then. A user name may contain anything,
 * so `before` is compared as a whole and never taken apart behind its first hyphen. Whoever has another login now begins anew.
 */
export function changedByText(before: string, generation: number, { user, login }: Changer): string {
  if ([...user].length > maxUserName) return ''
  const [first = ''] = before.split('-', 1)
  const by = `${login !== undefined && wholeLogin.test(login) ? `@${login}` : ''} ${user}`
  return before === `${first}-${generation - 1}${by}` ? `${first}-${generation}${by}` : `${generation}-${generation}${by}`
}

/** Undefined for what is not such a value. */
export function changeRun(text: string): ChangeRun | undefined {
  const [, first, last, by, user] = wholeRun.exec(text) ?? []
  return first && last && user ? { first: Number(first), last: Number(last), user, login: by } : undefined
}
