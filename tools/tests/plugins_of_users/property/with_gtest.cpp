// With GoogleTest.
#include <gtest/gtest.h>

#include "pool.h"

TEST(pool, keeps_its_limit) {
    EXPECT_EQ(bz_check(&pool_keeps_its_limit), 0);
}

TEST(pool, that_forgets) {
    EXPECT_EQ(bz_check(&pool_that_forgets), 0);
}

int main(int argc, char **argv) {
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
