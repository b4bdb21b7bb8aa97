/* times PARAMETERS.toml: the choice, "best M P", and after it "M P TIME_S" for every (m, p) that has a time.
 * Of rates the first line is "rate UNIT", and what follows M P is the rate. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mmgp.h"

int main(int count, char **arguments)
{
    mmgp_model *model;
    mmgp_choice best;
    if (count != 2 || mmgp_load(arguments[1], NULL, &model) != MMGP_OK
        || mmgp_best(model, NULL, &best) != MMGP_OK) {
        fprintf(stderr, "%s\n", mmgp_message());
        return 1;
    }
    const char *unit = mmgp_unit(model);
    if (unit)
        printf("unit %s\n", unit);
    printf("best %" PRIu32 " %" PRIu32 "\n", best.m, best.p);
    uint32_t apus = mmgp_apus(model);
    for (uint32_t m = 1; m <= apus; m++)
        for (uint32_t p = 1; m * p <= apus; p++) {
            double time_s;
            if (mmgp_time(model, m, p, &time_s) == MMGP_OK)
                printf("%" PRIu32 " %" PRIu32 " %.17g\n", m, p, unit && !strncmp(unit, "1/(", 3) ? 1.0 / time_s : time_s);
        }
    mmgp_free(model);
    return 0;
}
