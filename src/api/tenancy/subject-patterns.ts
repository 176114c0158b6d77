// How the names of people and groups read in Kubernetes, once: for RegExp here, and for `matches` in CEL (RE2), by which policies
// say the same. `userSubject` and `groups` in src/api/names.ts write them.

const host = '[a-z0-9][a-z0-9.:-]*'
/** Above 15 digits JavaScript could round it to the id of another person. */
const id = '[1-9][0-9]{0,14}'

/** `github|<host>|<id>`, whole. */
export const personPattern = `^github[|]${host}[|]${id}$`
/** A team, or the owners or members of an organization, whole. */
export const groupPattern = `^github[|]${host}[|]org[|]${id}[|](owners|members|team[|]${id})$`

const [person, group] = [new RegExp(personPattern), new RegExp(groupPattern)]

/** True for exactly the names that `userSubject` returns. */
export function isPerson(name: string): boolean {
  return person.test(name)
}

/** True for exactly the names that the functions of `groups` return. */
export function isGroup(name: string): boolean {
  return group.test(name)
}
