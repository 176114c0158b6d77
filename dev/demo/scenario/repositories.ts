// Repositories that an owner of the organization creates on GitHub, by its REST API as that person.
// Source: https://docs.github.com/en/rest/repos/repos#create-an-organization-repository
import { type DemoContext, tenantNamespace } from '../context.ts'
import { askGitHub, onGitHub } from '../github.ts'

const team = 'developers'

/** Creates the repository unless it exists, and lets the team push to it; resolves to what was done. */
export async function ensureRepository(demo: DemoContext, name: string): Promise<string> {
  const made = await askGitHub(demo, 'olivia', `POST /orgs/${tenantNamespace}/repos`, { name, private: true, auto_init: true })
  // GitHub answers 422 for a name that is taken.
  const existed = made.status === 422
  if (existed) await onGitHub(demo, 'olivia', `GET /repos/${tenantNamespace}/${name}`)
  else if (made.status !== 201) throw new Error(`creating ${name}: ${made.status} ${JSON.stringify(made.body)}`)
  await giveToTeam(demo, name)
  return `${tenantNamespace}/${name} ${existed ? 'exists since an earlier run' : 'created'}`
}

/** Lets the team of the developers push to the repository. */
export async function giveToTeam(demo: DemoContext, name: string): Promise<void> {
  await onGitHub(demo, 'olivia', `PUT ${ofTeam(name)}`, { permission: 'push' })
}

/** The opposite of `giveToTeam`. */
export async function takeFromTeam(demo: DemoContext, name: string): Promise<void> {
  await onGitHub(demo, 'olivia', `DELETE ${ofTeam(name)}`)
}

function ofTeam(name: string): `/${string}` {
  return `/orgs/${tenantNamespace}/teams/${team}/repos/${tenantNamespace}/${name}`
}
