// Installations are written by the broker alone: whoever could create one would get the repositories of any account on the App.
import { installation } from '../../api/github/installation.ts'
import { celList, type Rule } from '../rule.ts'
import { mayMaintain, mayMaintainExpression, metadataOnlyVariable } from './writers.ts'

const message = 'Installations are made by the platform when an owner signs in and onboards the account; nobody else writes them'

export const installationWriters: Rule = {
  name: 'installation-writers',
  stops: 'a tenant (or a cluster administrator by mistake) that binds a namespace to an installation nobody proved to own',
  scope: 'everywhere',
  matches: [
    {
      group: installation.group,
      resources: [installation.plural, `${installation.plural}/*`],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
    },
  ],
  check: (request, identities) =>
    identities.brokers.includes(request.username) || mayMaintain(request, identities) ? undefined : message,
  policy: identities => ({
    variables: [metadataOnlyVariable],
    validation: {
      expression: `request.userInfo.username in ${celList(identities.brokers)} || ${mayMaintainExpression(identities)}`,
      message,
    },
  }),
}
