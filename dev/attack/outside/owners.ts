// What only owners of an account do on pages of its tenant: roles, its end, its binding, who stands in. By people who do not own
// acme, and by gary with the forms of his own tenant. Nothing is ended or changed if a wall is missing: the name that is typed
// is wrong, and the generation is of a version long gone; either is looked at after the person was.
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { judgeBroker, pageText } from '../judge.ts'
import { succeeded, type Verdict } from '../verdict.ts'
import type { PersonActor } from '../world/actors.ts'
import type { World } from '../world/world.ts'
import { formSecret, signedIn } from './visitor.ts'

type Form = Readonly<Record<string, string>>
type Sent = {
  readonly name: string
  readonly as: PersonActor
  readonly tenant: string
  readonly page: 'roles' | 'offboard' | 'binding' | 'stand-in' | 'stand-in/withdraw'
  readonly form: Form
  readonly judge: (status: number, text: string) => Verdict
}

/** Of acme as GitHub's stand-in has them. */
const team = '3001'
const oldGeneration = '1'
const olivia = '1001'
/** Of a page that nobody was shown. */
const shown = 'a'.repeat(64)

/** What the person is comes first: a page that found fault with the form alone let somebody in who is no owner. */
const notOwner = (status: number, text: string): Verdict =>
  status === 409 ? succeeded(`409: only the form was refused: ${pageText(text)}`) : judgeBroker({ status, text }, [403, 404])

const notAllowed = (status: number, text: string): Verdict => judgeBroker({ status, text }, [400, 403, 409])

async function tenantOf({ admin }: World, name: string): Promise<{ readonly uid: string; readonly generation: string }> {
  const { metadata } = (await admin.call('GET', `/apis/tenancy.sekisho.dev/v1alpha1/tenants/${name}`)) as {
    readonly metadata: { readonly uid: string; readonly generation: number }
  }
  return { uid: metadata.uid, generation: String(metadata.generation) }
}

/** A form with its secret, unless one is given. */
function send(world: World, { name, as, tenant, page, form, judge }: Sent): Attempt {
  return {
    name: `${as}: ${name}`,
    async run() {
      const browser = await signedIn(world, as)
      const body = { csrf: await formSecret(world, as), ...form }
      const answer = await browser.submit(`${world.targets.issuer}/tenants/${tenant}/${page}`, body)
      return judge(answer.status, answer.html)
    },
  }
}

function look(world: World, as: PersonActor, page: string): Attempt {
  return {
    name: `${as}: looks at ${page} of ${tenantNamespace}`,
    async run() {
      const { status, html } = await (await signedIn(world, as)).open(
        `${world.targets.issuer}/tenants/${tenantNamespace}/${page}`,
      )
      return judgeBroker({ status, text: html }, [403, 404])
    },
  }
}

const noOwners = ['gary', 'noah', 'dave', 'mia'] as const

async function asNoOwner(world: World): Promise<readonly Attempt[]> {
  const { uid } = await tenantOf(world, tenantNamespace)
  const roles = { uid, generation: oldGeneration }
  const forms: readonly Omit<Sent, 'as' | 'tenant' | 'judge'>[] = [
    { name: 'gives the role admin to a team of acme', page: 'roles', form: { ...roles, team, role: 'admin' } },
    { name: 'gives all members of acme the role developer', page: 'roles', form: { ...roles, role: 'developer' } },
    { name: 'takes a role of acme away', page: 'roles', form: { ...roles, team, role: 'none' } },
    { name: 'ends acme', page: 'offboard', form: { uid, name: 'not-its-name' } },
    { name: 'takes over the binding of acme', page: 'binding', form: {} },
    { name: 'stands in for the binding of acme', page: 'stand-in', form: { shown } },
    { name: 'takes olivia away from who stands in', page: 'stand-in/withdraw', form: { person: olivia } },
  ]
  const send1 = (as: PersonActor, form: (typeof forms)[number]) =>
    send(world, { ...form, as, tenant: tenantNamespace, judge: notOwner })
  return [
    ...noOwners.flatMap(as => forms.map(form => send1(as, form))),
    ...noOwners.map(as => look(world, as, 'offboard')),
    ...(['gary', 'noah'] as const).map(as => look(world, as, 'roles')),
  ]
}

/** Of globex, which is his: what an owner may not do either, and forms that are not those of the page. */
async function asOwner(world: World): Promise<readonly Attempt[]> {
  const { uid, generation } = await tenantOf(world, neighbourNamespace)
  const acme = await tenantOf(world, tenantNamespace)
  const own = { as: 'gary', tenant: neighbourNamespace, judge: notAllowed } as const
  const change = (name: string, form: Form) =>
    send(world, { ...own, name, page: 'roles', form: { uid, generation, role: 'viewer', ...form } })
  const stand = (name: string, form: Form) => send(world, { ...own, name, page: 'stand-in', form })
  const end = (name: string, form: Form) => send(world, { ...own, name, page: 'offboard', form: { uid, ...form } })
  return [
    change('gives a role in globex to a team of acme', { team, role: 'admin' }),
    change('makes all members of globex admins', { role: 'admin' }),
    change('makes all members of globex auditors', { role: 'auditor' }),
    change('changes roles of a version that is gone', { team, generation: oldGeneration, role: 'admin' }),
    change('changes roles with the uid of acme', { uid: acme.uid }),
    change('gives a role that does not exist', { role: 'owner' }),
    change('names a team that is no number', { team: '3001e0' }),
    change('names a team beyond all numbers', { team: '9'.repeat(20) }),
    change('sends roles without the form’s secret', { csrf: '' }),
    change('sends roles with the secret of noah', { csrf: await formSecret(world, 'noah') }),
    stand('stands in for what no page showed', { shown }),
    stand('stands in for anything', { shown: '' }),
    stand('stands in without the form’s secret', { shown, csrf: '' }),
    end('ends globex under another name', { name: tenantNamespace }),
    end('ends globex with the uid of acme', { uid: acme.uid, name: neighbourNamespace }),
    end('ends globex without the form’s secret', { csrf: '', name: neighbourNamespace }),
    end('ends globex with the secret of noah', { csrf: await formSecret(world, 'noah'), name: neighbourNamespace }),
  ]
}

export const ownerAttacks: readonly Attack[] = [
  {
    name: 'broker/owners',
    as: 'gary of globex, noah, and dave and mia, who have roles in acme',
    against: 'the roles, the binding and the existence of acme',
    tries: 'Sends the forms of owners for a tenant whose account the person does not own.',
    expected: ['broker', 'authentication'],
    attempts: asNoOwner,
  },
  {
    name: 'broker/own-roles',
    as: 'gary, the owner of globex',
    against: 'the limits of what owners change',
    tries: 'Gives roles to teams of others and to everybody, and sends forms of another version, tenant or person.',
    expected: ['broker', 'authentication'],
    attempts: asOwner,
  },
]
