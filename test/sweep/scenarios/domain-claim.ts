// A tenant proves a domain by DNS, serves it, and gives it up: the claim is created once, held, and released.
import { application } from '../../../src/api/apps/application.ts'
import { ingresses } from '../../../src/api/builtin/index.ts'
import { domainClaim } from '../../../src/api/tenancy/domain-claim.ts'
import type { Environment } from '../environment/environment.ts'
import { host } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { applyApplication, applyChart, image } from './application.ts'
import { settleTenant } from './tenant.ts'
import { gone, ready } from './waits.ts'

const domainOf = ({ prefix }: Environment): string => `${prefix}.example.org`
const processes = [{ name: 'web', port: 3000, replicas: 0 }]

export const domainClaimScenario: Scenario = {
  name: 'domain claim: prove, serve, release',
  controllers: ['domain-claim'],
  environment: { component: 'controllers', namespace: 'tenant', github: 'account' },
  async prepare(environment) {
    await settleTenant(environment)
    await applyChart(environment)
  },
  async act(environment) {
    const domain = domainOf(environment)
    const { id } = environment.account.organization
    environment.fixture.dns.set(`_sekisho-challenge.${domain}`, `sekisho-tenant=${host}/${id}`)
    await applyApplication(environment, { processes, image: image(1), domains: [domain] })
    await ready(environment, application, 'shop', 'Available')
    await ready(environment, domainClaim, domain, 'Held')
    await applyApplication(environment, { processes, image: image(1) })
    await ready(environment, application, 'shop', 'Available')
    await gone(environment, domainClaim, domain)
  },
  compares: [domainClaim, application, ingresses],
}
