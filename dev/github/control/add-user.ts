// Owns: a new person, as signing up would make one.
import { days, timestamp } from '../clock.ts'
import type { Context } from '../context.ts'
import { invalidField } from '../rest/protocol/answer.ts'
import type { Fields } from '../rest/protocol/body.ts'
import type { User } from '../state/accounts.ts'
import { accountByLogin, nextId } from '../state/world.ts'
import { credentialKey, newPersonalToken } from '../tokens/formats.ts'

/** https://docs.github.com/en/site-policy/other-site-policies/github-username-policy: letters, digits and single inner hyphens. */
const validLogin = /^[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}$/

/** Adds the person and answers their id and a personal access token. */
export const addUser = (context: Context, fields: Fields) => {
  const login = fields.text('login', 39)
  if (!validLogin.test(login)) throw invalidField('User', 'login', 'invalid')
  if (accountByLogin(context.world, login)) throw invalidField('User', 'login', 'already_exists')
  const name = fields.optionalText('name', 100) ?? login
  const token = newPersonalToken()
  const now = context.now()
  return context.store.change(world => {
    const user: User = {
      kind: 'user',
      id: nextId(world),
      login,
      name,
      email: `${login}@example.test`,
      type: 'User',
      createdAt: timestamp(now),
    }
    world.users.push(user)
    world.credentials.accessTokens[credentialKey(token)] = {
      kind: 'personal',
      userId: user.id,
      createdAt: now,
      expiresAt: now + days(366),
    }
    return { id: user.id, login, token }
  })
}
