// Only the broker writes Installations: a user who could create one would reach the repositories of any account on the App.
import { installation } from '../../../api/github/installation.ts'
import type { Rule } from '../../rule.ts'
import { onlyWrittenBy } from './writers.ts'

const message = 'only the platform writes Installations: an owner of the GitHub account signs in and onboards it'

/** The broker writes; controllers and Kubernetes' reapers maintain. */
export const installationWriters: Rule = {
  name: 'installation-writers',
  stops: 'binding a namespace to an installation without proof of ownership, by a tenant or by a cluster administrator’s mistake',
  scope: 'everywhere',
  matches: [
    {
      group: installation.group,
      resources: [installation.plural],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
    },
  ],
  ...onlyWrittenBy(({ brokers }) => brokers, message),
}
