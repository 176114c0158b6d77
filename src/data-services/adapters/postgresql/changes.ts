// Which databases and logins the administrator's own statements may have changed. A look at the whole server says nothing of what
// was changed after it began. Whoever writes cannot forget to say so: names stand in a statement only where it makes, changes or
// ends something (`quoted`); questions have them as values.

/** What was named since it began. */
export type Followed = {
  /** `name`: of a database or a login. */
  readonly has: (name: string) => boolean
  /** Remembers nothing more. */
  readonly end: () => void
}
export type Changes = {
  readonly note: (names: Iterable<string>) => void
  readonly follow: () => Followed
}

/** More than that between two looks, and the first of them says nothing at all any more. */
const maxNames = 20_000

/** A database by its own name or by one of its roles, or a login. */
const quotedNames = /"(?:[ord]_)?(s[a-z2-7]{26}|l_[a-z2-7]{26}_[ab])"/g

/** Whose databases and logins the statement names. Pure. */
export function namedIn(sql: string): readonly string[] {
  return [...sql.matchAll(quotedNames)].flatMap(([, name]) => name ?? [])
}

// Memory (changes of a server): names of databases and logins that statements of this process named since a look began
//   life: until the look that follows has ended
//   bound: 20,000 names for each of two looks
//   freshness: exact
//   replicas: leader only
export function createChanges(): Changes {
  const followers = new Set<(name: string) => void>()
  return {
    note(names) {
      for (const name of names) for (const follow of followers) follow(name)
    },
    follow() {
      const names = new Set<string>()
      const add = (name: string): void => {
        if (names.size <= maxNames) names.add(name)
      }
      followers.add(add)
      return { has: name => names.size > maxNames || names.has(name), end: () => void followers.delete(add) }
    },
  }
}
