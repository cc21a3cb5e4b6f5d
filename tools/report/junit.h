/* JUnit's XML, as Jenkins, GitLab and the reporters for GitHub read it.
 *
 *     <testsuites> <testsuite name="buzzer run contended" tests failures errors skipped time>
 *         <properties> ... </properties>
 *         <testcase classname="buzzer.run.contended" name="buzzer order=fifo" time>
 *         <testcase ... name="buzzer order=fifo: lost-wakeup of 'permits' (acquire, woken)">
 *             <failure type="lost-wakeup" message="...">the story, and the command</failure>
 *
 * The text is XML 1.0 whatever the names and messages hold: characters that XML does not have, and
 * bytes that are no UTF-8, become U+FFFD. */
#ifndef BZ_TOOLS_REPORT_JUNIT_H
#define BZ_TOOLS_REPORT_JUNIT_H

#include "tools/report/outcome.h"

void bz_junit_add(struct bz_text *out, const struct bz_outcome *outcome);

#endif
